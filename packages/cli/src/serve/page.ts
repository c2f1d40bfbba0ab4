/** The web page that the host serves. Without a build of it, a line of text says what this is; clients do not care. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Logger, type StaticFiles, staticFiles } from '@atrium/host';

export async function findPage(logger: Logger): Promise<StaticFiles | undefined> {
  try {
    const manifest = fileURLToPath(import.meta.resolve('@atrium/web/package.json'));
    return await staticFiles(path.join(path.dirname(manifest), 'dist'));
  } catch {
    logger.log('warn', 'there is no web page: it has not been built', { hint: 'npm run build' });
    return undefined;
  }
}

/** The address of the page for a browser. The token stands in the fragment, which browsers send to nobody. */
export function pageLink(url: string, token: string | undefined): string {
  const page = `${url.replace(/^ws/, 'http')}/`;
  return token === undefined ? page : `${page}#token=${token}`;
}
