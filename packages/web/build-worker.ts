/** Builds the service worker: one classic script at the root of the page, which shares no file with it and knows its frame. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, type Rollup } from 'vite';

const SOURCE = fileURLToPath(new URL('./service-worker/service-worker.ts', import.meta.url));

export function serviceWorker(): Plugin {
  return {
    name: 'atrium-service-worker',
    apply: 'build',
    async writeBundle({ dir }, bundle) {
      await build({
        ...{ configFile: false, publicDir: false, logLevel: 'warn' },
        define: { SHELL: JSON.stringify(shellOf(bundle)) },
        build: {
          ...{ target: 'es2022', emptyOutDir: false, reportCompressedSize: false, modulePreload: false },
          ...(dir !== undefined && { outDir: dir }),
          rolldownOptions: { input: SOURCE, output: { format: 'iife', entryFileNames: 'service-worker.js' } },
        },
      });
    },
  };
}

/** What the page needs to say that it is offline: its first script, what that imports at once, and their styles. */
function shellOf(bundle: Rollup.OutputBundle): { readonly version: string; readonly files: readonly string[] } {
  const files = new Set<string>();
  const take = (name: string) => {
    const chunk = bundle[name];
    if (files.has(`/${name}`) || chunk?.type !== 'chunk') return;
    files.add(`/${name}`);
    for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(`/${style}`);
    for (const each of chunk.imports) take(each);
  };
  const [entry] = Object.values(bundle).filter(
    (file) => file.type === 'chunk' && file.isEntry && file.name === 'index',
  );
  if (!entry) throw new Error('build-worker.ts: the page has no script of the name index');
  take(entry.fileName);
  const list = [...files];
  return { version: createHash('sha256').update(list.join()).digest('hex').slice(0, 16), files: list };
}
