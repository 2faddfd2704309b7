import svelte from "eslint-plugin-svelte";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

const message = "Untrusted text goes into text nodes only, and nothing is run from a string.";
const sinks = [
  ...[
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "srcdoc",
    "createContextualFragment",
    "setHTMLUnsafe",
    "parseHTMLUnsafe",
  ].flatMap((name) => [
    { selector: `MemberExpression[property.name='${name}']`, message },
    { selector: `Literal[value='${name}']`, message },
    { selector: `SvelteAttribute[key.name='${name}']`, message },
  ]),
  { selector: "MemberExpression[object.name='document'][property.name=/^write(ln)?$/]", message },
  {
    selector: "SvelteAttribute[key.name='style']",
    message: "The content policy refuses style attributes: use a class or a style: directive.",
  },
  {
    selector: "SvelteElement[name.name='iframe']",
    message: "The content policy allows no frames.",
  },
];
const tauri = { group: ["@tauri-apps/*"], message: "Only backend/tauri.ts knows the window." };
const inside = { regex: "/generated/", message: "Import generated types from their index." };
const aboutHash = {
  object: "location",
  property: "hash",
  message: "Only app/route.ts reads and writes the address.",
};
const forbid = (...patterns) => ({
  "no-restricted-imports": ["error", { patterns: [inside, ...patterns] }],
});

export default ts.config(
  { ignores: ["dist/", "node_modules/", "src/generated/"] },
  ...ts.configs.strict,
  ...ts.configs.stylistic,
  ...svelte.configs.recommended,
  { languageOptions: { globals: {} }, linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: {
      parserOptions: { parser: ts.parser, extraFileExtensions: [".svelte"], svelteConfig },
    },
  },
  {
    rules: {
      "no-undef": "off",
      "no-console": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-syntax": ["error", ...sinks],
      "no-restricted-properties": ["error", aboutHash],
      "svelte/no-at-html-tags": "error",
      "svelte/button-has-type": "error",
      "svelte/require-each-key": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "@typescript-eslint/consistent-type-imports": "error",
    },
  },
  { files: ["src/**"], rules: forbid(tauri) },
  { files: ["src/backend/tauri.ts"], rules: forbid() },
  {
    files: ["src/components/**"],
    rules: forbid(tauri, {
      regex: "/(app|backend|features|generated|testing)(/|$)|/domain/(?!format$)",
      message: "Components know nothing of our domain.",
    }),
  },
  {
    files: ["src/features/**"],
    rules: forbid(tauri, {
      regex: "^\\.\\./(?!\\.\\./|shared/)|/features/",
      message: "Features import each other only through features/shared.",
    }),
  },
  { files: ["src/app/route.ts"], rules: { "no-restricted-properties": "off" } },
  { files: ["eslint.config.js"], rules: { "no-restricted-syntax": "off" } },
  { files: ["src/testing/setup.ts"], rules: { "@typescript-eslint/no-empty-function": "off" } },
  // Test tables are long functions by nature.
  {
    files: ["**/*.test.ts"],
    rules: {
      "no-restricted-properties": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
);
