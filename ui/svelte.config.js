import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  compilerOptions: { runes: true },
  // Every compiler warning is an error.
  onwarn(warning, handle) {
    handle(warning);
  },
};
