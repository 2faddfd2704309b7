// A change that a form sends: whether it is under way, and why it failed.
import { asAppError } from "../../backend/live";
import type { AppError } from "../../generated";

export class Submission {
  busy = $state(false);
  failed: AppError | null = $state(null);

  async send(change: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.failed = null;
    try {
      await change();
    } catch (error) {
      this.failed = asAppError(error);
    } finally {
      this.busy = false;
    }
  }
}
