import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const entities = decodeURIComponent(
  new URL("node_modules/decode-named-character-reference/index.js", import.meta.url).pathname,
);

export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  // The window loads the page from its own scheme, the server from its root: paths must not assume either.
  base: "./",
  clearScreen: false,
  server: { host: "127.0.0.1", port: 5173, strictPort: true },
  build: {
    target: ["es2022", "safari16.4"],
    // Nothing inlined as data: the content policy would refuse it for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // `make run` is quiet; how long its plugins took on a busy machine is nobody's business.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  resolve: {
    // Its form for browsers reads entities through `innerHTML`, which the content policy refuses.
    alias: { "decode-named-character-reference": entities },
    ...(mode === "test" ? { conditions: ["browser"] } : {}),
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.ts"],
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    // A busy machine is slow, which is no failure.
    testTimeout: 20_000,
  },
}));
