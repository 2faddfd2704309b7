import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  compilerOptions: { runes: true },
  // One version of a part: what a warning says is wrong is wrong.
  onwarn(warning, handle) {
    handle(warning);
  },
};
