import tseslint from "typescript-eslint";

export default tseslint.config(...tseslint.configs.strictTypeChecked, {
  languageOptions: { parserOptions: { projectService: true } },
  rules: {
    // node:test gives promises that its runner waits for
    "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: ["test"] }],
  },
});
