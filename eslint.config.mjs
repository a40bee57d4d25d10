// One dialect: classic scripts of ES2020 for pages, which load from file:// too; modules for the tests.
import js from "@eslint/js";
import globals from "globals";

const DIALECT = {
  "arrow-body-style": "error",
  camelcase: ["error", { properties: "never", allow: ["^runs_on$", "^cache_type$"] }],
  curly: ["error", "multi-line"],
  eqeqeq: ["error", "always", { null: "ignore" }],
  "func-style": ["error", "declaration", { allowArrowFunctions: true }],
  "max-len": ["error", { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true }],
  "no-empty": ["error", { allowEmptyCatch: true }],
  // The minifier takes an open slash in a class for the end of the expression.
  "no-useless-escape": ["error", { allowRegexCharacters: ["/"] }],
  "no-var": "error",
  "object-shorthand": "error",
  "one-var": ["error", "never"],
  "prefer-arrow-callback": "error",
  "prefer-const": "error",
  "prefer-rest-params": "error",
  "prefer-spread": "error",
};

export default [
  {
    ignores: ["**/target/", "public/", "tests/data/", "tests/golden/", "tests/hostile/", "tests/cases/"],
  },
  js.configs.recommended,
  {
    files: ["static/js/*.js", "src/serve/reload.js"],
    languageOptions: {
      ecmaVersion: 2020,
      sourceType: "script",
      globals: { ...globals.browser, kbgen: "readonly" },
    },
    rules: {
      ...DIALECT,
      "no-implicit-globals": "error",
      "no-restricted-syntax": [
        "error",
        {
          selector: "AssignmentExpression[left.object.name=/^(window|globalThis|self)$/]",
          message: "The one global name is `kbgen`.",
        },
      ],
      strict: ["error", "function"],
    },
  },
  { files: ["static/js/theme.js"], rules: { "no-restricted-syntax": "off" } },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: { ...globals.nodeBuiltin, ...globals.browser, kbgen: "readonly" } },
    rules: DIALECT,
  },
];
