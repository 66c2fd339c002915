import js from '@eslint/js';
import globals from 'globals';

// Names that a browser's window has and that are nearly always a forgotten variable. `window`
// itself is missing in workers, where the package must run too: write `globalThis`.
const MISLEADING_GLOBALS = ['window', 'status', 'name', 'event', 'top'];

export default [
  { ignores: ['js/pkg/', 'target/', 'tests/lab/media/', 'tests/vectors/'] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: 'module' },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'no-restricted-globals': ['error', ...MISLEADING_GLOBALS],
      'no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' },
      ],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  // The package runs in windows, workers and Node: a bare name must exist in all of them.
  {
    files: ['js/**/*.js'],
    languageOptions: { globals: globals['shared-node-browser'] },
  },
  { files: ['www/**/*.js'], languageOptions: { globals: globals.browser } },
  // Tests run in Node and hand functions to pages.
  {
    files: ['tests/**/*.{js,mjs}', '*.config.js'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
];
