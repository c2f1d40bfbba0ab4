/** Opens a terminal: checks the client's request, fills in the defaults, and starts the process. */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { folderOf } from '@atrium/core/util/folders.js';
import {
  type CreateTerminalParams,
  channelKind,
  ErrorCode,
  type SessionState,
  type TerminalClaim,
} from '@atrium/protocol/ahp-1';
import { type ClaimedSessions, claimProblem, sizeProblem, titleProblem } from './claims.js';
import type { SpawnPty } from './pty.js';
import { type Launch, type Shells, withOwnFiles } from './shells.js';
import { Terminal, type TerminalHost } from './terminal.js';
import { type Ending, HANGUP_GRACE_MS } from './terminal-process.js';

const COLS_DEFAULT = 80;
const ROWS_DEFAULT = 24;
const URI_MAX_CHARACTERS = 500;
const HANG_UP: Ending = { signal: 'SIGHUP', graceMs: HANGUP_GRACE_MS };

interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** Everything that is needed to open a terminal, for a client or for a tool. */
export interface Opening {
  readonly uri: string;
  readonly claim: TerminalClaim;
  readonly launch: Launch;
  readonly cwd: string;
  readonly size: Size;
  readonly title: string;
  /** A person chose its title. */
  readonly isNamed: boolean;
  /** A tool runs its command there. */
  readonly isOfTool?: boolean;
  readonly ending?: Ending;
}

export async function openingFor(
  params: CreateTerminalParams,
  { identity }: Caller,
  host: OpeningHost,
  shells: Shells,
): Promise<Opening> {
  const { claim } = params;
  const uri = checkedUri(params.channel);
  const size = checkedSize(params);
  const name = checkedName(params);
  checkClaim(claim, identity?.clientId, host.sessions);
  const cwd = await startFolder(host, params);
  const launch = await shells.launch();
  const title = name ?? path.basename(launch.file);
  return { uri, claim, launch, cwd, size, title, isNamed: name !== undefined };
}

export function checkedUri(uri: string): string {
  const isFit = channelKind(uri) === 'terminal' && /^[^:]*:\/*[^/\s]/.test(uri) && uri.length <= URI_MAX_CHARACTERS;
  if (isFit) return uri;
  throw invalid(`/channel must be a URI of your choice for a terminal: ahp-terminal:/<id>, not ${uri.slice(0, 80)}`);
}

function checkedSize({ cols = COLS_DEFAULT, rows = ROWS_DEFAULT }: CreateTerminalParams): Size {
  const problem = sizeProblem({ cols, rows });
  if (problem !== undefined) throw invalid(problem);
  return { cols, rows };
}

function checkedName({ name }: CreateTerminalParams): string | undefined {
  const problem = name === undefined ? undefined : titleProblem(name);
  if (problem !== undefined) throw invalid(`/name: ${problem}`);
  return name;
}

function checkClaim(claim: TerminalClaim, clientId: string | undefined, sessions: ClaimedSessions): void {
  if (claim.kind === 'client' && claim.clientId !== clientId) throw invalid('/claim/clientId must be your own');
  if (claim.kind === 'session' && !sessions.has(claim.session)) {
    throw new RequestError(ErrorCode.SessionNotFound, `/claim: there is no session ${claim.session}`);
  }
  const problem = claimProblem(claim, sessions);
  if (problem !== undefined) throw invalid(`/claim: ${problem}`);
}

function invalid(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}

/** The folder of a new terminal: the requested one, the session's, or the host's. */
async function startFolder(host: OpeningHost, { cwd, claim }: CreateTerminalParams): Promise<string> {
  if (cwd !== undefined) return checked(pathOf(cwd), `/cwd: ${cwd}`);
  const session = claim.kind === 'session' ? await host.sessions.open(claim.session) : undefined;
  const folder = session && folderOf(session.state);
  if (folder !== undefined) return checked(folder, `the session's folder ${folder}`);
  return checked(host.defaultDirectory === undefined ? homedir() : pathOf(host.defaultDirectory), "the host's folder");
}

function pathOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    throw new RequestError(ErrorCode.InvalidParams, `/cwd: ${uri} is not a folder on this machine; write file:///…`);
  }
}

async function checked(folder: string, what: string): Promise<string> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return folder;
  throw new RequestError(ErrorCode.NotFound, `${what} does not exist, or is not a folder`);
}

/** The part of the host that opening a terminal uses. */
export interface OpeningHost {
  readonly defaultDirectory: string | undefined;
  readonly sessions: ClaimedSessions & {
    open(uri: string): Promise<{ readonly state: SessionState } | undefined>;
  };
}

interface StartOptions {
  readonly host: TerminalHost;
  readonly spawn: SpawnPty;
  readonly changed: () => void;
}

/** Starts the process, which clients see from here on. */
export function startTerminal(opening: Opening, { host, spawn, changed }: StartOptions): Terminal {
  const { uri, claim, launch, cwd, size, title, isNamed, isOfTool = false, ending = HANG_UP } = opening;
  const { file, args } = withOwnFiles(launch);
  return new Terminal({
    host,
    uri,
    initial: {
      title,
      claim,
      cwd: pathToFileURL(cwd).href,
      ...size,
      content: [],
      lifecycle: { status: 'running' },
      isPty: true,
    },
    isNamed,
    isOfTool,
    ending,
    nonce: launch.nonce,
    spawn: (events) => spawn({ file, args, cwd, env: launch.env, ...size }, events),
    changed,
  });
}
