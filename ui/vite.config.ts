import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const entities = decodeURIComponent(
  new URL("node_modules/decode-named-character-reference/index.js", import.meta.url).pathname,
);

export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  // The window loads the page from its own scheme, the server from its root, so paths are relative.
  base: "./",
  clearScreen: false,
  server: { host: "127.0.0.1", port: 5173, strictPort: true },
  build: {
    target: ["es2022", "safari16.4"],
    // Inlines nothing as data URLs, which the content policy refuses for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Keeps `make run` quiet: plugin timings on a busy machine are noise.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  resolve: {
    // The browser build decodes entities with `innerHTML`, which the content policy refuses.
    alias: { "decode-named-character-reference": entities },
    ...(mode === "test" ? { conditions: ["browser"] } : {}),
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.ts"],
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    // By default one core is left free, which on two cores is half of them.
    maxWorkers: "100%",
    // A busy machine is slow; that is not a failure.
    testTimeout: 20_000,
  },
}));
