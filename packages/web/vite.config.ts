/** Builds the page into `dist`. Nothing inline and nothing remote: the host's content policy allows neither. */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compress } from './compress.js';
import { strictXterm } from './strict-xterm.js';

export default defineConfig({
  plugins: [react(), strictXterm(), compress()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The rest of the build is quiet, too; a mistake still ends it.
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  logLevel: 'warn',
});
