// Loaded before the server: it listens on this machine only, on a port that the system chooses and that is told on standard error.
import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (_port, listening) {
  this.once("listening", () => console.error(`PORT ${this.address().port}`));
  return listen.call(this, { host: "127.0.0.1", port: 0 }, listening);
};
