/** Builds the page into `dist`. Nothing inline and nothing remote: the host's content policy allows neither. */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { serviceWorker } from './build-worker.js';
import { compress } from './compress.js';
import { lateLibraries } from './late-libraries.js';
import { strictXterm } from './strict-xterm.js';

export default defineConfig({
  plugins: [react(), strictXterm(), lateLibraries(), serviceWorker(), compress()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The rest of the build is quiet, too; a mistake still ends it.
    reportCompressedSize: false,
    chunkSizeWarningLimit: 3_000,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      input: ['index.html', 'diagram/frame.html'],
      // The host gives what is in `diagram` to a frame without an origin.
      output: { entryFileNames: ({ name }) => `${name === 'frame' ? 'diagram' : 'assets'}/[name]-[hash].js` },
    },
  },
  logLevel: 'warn',
});
