/**
 * The text that a person sees when the host has started. The link with the token is only for the user's own terminal; a
 * file or
 * another program gets the path of the token, never the token.
 */
import { type Logger, type PageOptions, type StaticFiles, staticFiles } from '@atrium/host';
import { pageFolder } from '../places.js';

interface StartScreen {
  readonly url: string;
  /** The same for other machines. */
  readonly fromElsewhere: readonly string[];
  /** Whether there is a page to open. */
  readonly hasPage: boolean;
  /** For the link to the page; absent if others may read along, or if the host needs no token. */
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly gatewayUrl: string | undefined;
  readonly dataDir: string;
  readonly agents: readonly string[];
}

export function startScreen(screen: StartScreen): string {
  const { url, fromElsewhere, hasPage, token, tokenFile, gatewayUrl, dataDir, agents } = screen;
  const rows = [
    ...(hasPage ? [['Open', pageLink(url, token)]] : []),
    ...(hasPage ? fromElsewhere.map((each) => ['or', pageLink(each, token)]) : []),
    ['Connect', url],
    ['Token', tokenFile ?? 'none: everybody on this machine may connect'],
    ['Providers', gatewayUrl ?? 'none can connect'],
    ['Data', dataDir],
    ['Agents', agents.join(', ')],
  ];
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(9)} ${value}`);
  return `Atrium is running.\n\n${lines.join('\n')}\n\nStop it with Ctrl+C.\n`;
}

export async function findPage(logger: Logger, options: PageOptions): Promise<StaticFiles | undefined> {
  try {
    return await staticFiles(pageFolder(), options);
  } catch {
    logger.log('warn', 'there is no web page: it has not been built', { hint: 'npm run build' });
    return undefined;
  }
}

/** The address of the page. The token is in the fragment, which browsers do not send. */
export function pageLink(url: string, token: string | undefined): string {
  const page = `${url.replace(/^ws/, 'http')}/`;
  return token === undefined ? page : `${page}#token=${token}`;
}
