/** What is wrong with a request for a terminal, whatever else there is. */
import { type CreateTerminalParams, channelKind, ErrorCode, type TerminalClaim } from '@atrium/protocol';
import { RequestError } from '../../core/contracts/request-error.js';
import { unfit } from './claims.js';
import { COLS_DEFAULT, ROWS_DEFAULT, URI_MAX_CHARACTERS } from './limits.js';
import { sizeProblem, titleProblem } from './rules.js';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export function checkedUri(uri: string): string {
  const isFit = channelKind(uri) === 'terminal' && /^[^:]*:\/*[^/\s]/.test(uri) && uri.length <= URI_MAX_CHARACTERS;
  if (isFit) return uri;
  throw invalid(`/channel must be a URI of your choice for a terminal: ahp-terminal:/<id>, not ${uri.slice(0, 80)}`);
}

export function checkedSize({ cols = COLS_DEFAULT, rows = ROWS_DEFAULT }: CreateTerminalParams): Size {
  const problem = sizeProblem({ cols, rows });
  if (problem !== undefined) throw invalid(problem);
  return { cols, rows };
}

export function checkedName({ name }: CreateTerminalParams): string | undefined {
  const problem = name === undefined ? undefined : titleProblem(name);
  if (problem !== undefined) throw invalid(`/name: ${problem}`);
  return name;
}

export function checkClaim(
  claim: TerminalClaim,
  clientId: string | undefined,
  isSession: (uri: string) => boolean,
): void {
  if (claim.kind === 'client' && claim.clientId !== clientId) throw invalid('/claim/clientId must be your own');
  if (claim.kind === 'session' && !isSession(claim.session)) {
    throw new RequestError(ErrorCode.SessionNotFound, `/claim: there is no session ${claim.session}`);
  }
  const problem = unfit(claim, isSession);
  if (problem !== undefined) throw invalid(`/claim: ${problem}`);
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}
