/** Writes a compressed copy beside every file of the page that is worth it. The host sends it to browsers that take it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Smaller files fit into one packet anyway. */
const WORTH_BYTES = 1_024;
const TEXT = /\.(?:js|css|html|svg|webmanifest)$/;

export function compress(): Plugin {
  let folder: string | undefined;
  return {
    name: 'atrium-compress',
    apply: 'build',
    configResolved({ root, build }) {
      // Whoever builds only to look leaves the files of a page alone that is being served.
      if (build.write) folder = path.resolve(root, build.outDir);
    },
    closeBundle() {
      if (folder === undefined) return;
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (entry.isFile() && TEXT.test(entry.name)) writeCopies(path.join(entry.parentPath, entry.name));
      }
    },
  };
}

function writeCopies(file: string): void {
  const content = readFileSync(file);
  if (content.length < WORTH_BYTES) return;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
}
