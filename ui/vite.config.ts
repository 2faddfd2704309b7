import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

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
  },
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  test: { environment: "jsdom", include: ["src/**/*.test.ts"], setupFiles: ["src/setup.test-env.ts"], restoreMocks: true },
}));
