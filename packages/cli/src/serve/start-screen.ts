/**
 * What a person sees when the host has started. The link with the token is for the terminal of whoever started it; where
 * the output goes into a file or to another program, it says where the token is, never what it is.
 */
import { pageLink } from './page.js';

export interface StartScreen {
  readonly url: string;
  /** The same for other machines. */
  readonly fromElsewhere: readonly string[];
  /** Whether there is a page to open. */
  readonly hasPage: boolean;
  /** For the link to the page; absent where others may read along, or where nobody needs one. */
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
