/** Which connection token is used: the user's own, the one of the data folder, or none. */
import { isTokenText, keptToken, newToken, readToken } from '@atrium/host';
import { UsageError } from '../exit.js';
import type { ServeOptions } from './settings.js';

export type TokenChoice =
  /** Made by a host of this data folder, and kept there for the next one. */
  | { readonly kind: 'generated'; readonly text: string }
  | { readonly kind: 'given'; readonly text: string }
  | { readonly kind: 'file'; readonly text: string; readonly file: string }
  | { readonly kind: 'none' };

const NAMES = ['connectionToken', 'connectionTokenFile', 'withoutConnectionToken'] as const;
type Name = (typeof NAMES)[number];

/** What stands on the command line overrides what stands in the environment, also when it says something else. */
export async function chooseToken(
  options: ServeOptions,
  dataDir: string,
  isFromCommandLine: (name: Name | 'rotateToken') => boolean,
): Promise<TokenChoice> {
  const present = NAMES.filter((name) => options[name] !== undefined && options[name] !== false);
  const typed = present.filter(isFromCommandLine);
  const [chosen, another] = typed.length > 0 ? typed : present;
  if (another !== undefined) {
    throw new UsageError('Give one of --connection-token, --connection-token-file and --without-connection-token.');
  }
  if (options.rotateToken && chosen !== undefined && isFromCommandLine('rotateToken')) {
    throw new UsageError('--rotate-token makes a new token of the host: leave out the option for a token of your own.');
  }
  return resolve(chosen, options, dataDir);
}

async function resolve(chosen: Name | undefined, options: ServeOptions, dataDir: string): Promise<TokenChoice> {
  if (chosen === 'withoutConnectionToken') return { kind: 'none' };
  if (chosen === 'connectionToken')
    return { kind: 'given', text: checked(options.connectionToken ?? '', '--connection-token') };
  const { connectionTokenFile: file } = options;
  if (chosen === undefined || file === undefined) {
    const kept = options.rotateToken ? undefined : await keptToken(dataDir);
    return { kind: 'generated', text: kept ?? newToken() };
  }
  const text = await readToken(file).catch((error) => {
    throw new UsageError(`--connection-token-file: ${file} cannot be read (${error.code ?? error.message}).`);
  });
  return { kind: 'file', text: checked(text, `--connection-token-file: ${file}`), file };
}

/** The message must not repeat the token. */
function checked(text: string, where: string): string {
  if (isTokenText(text)) return text;
  throw new UsageError(`${where}: a token is made of letters, digits and - _ . ~, and is not empty.`);
}
