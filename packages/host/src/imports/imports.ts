/**
 * Sessions of other programs on this machine. A client lists them and has them imported one by one, so that it can show
 * progress and stop. The URI of an imported session contains its program and its id there, so none is imported twice.
 */
import { pathToFileURL } from 'node:url';
import type { BlobStore } from '@atrium/core/contracts/blobs.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { counted } from '@atrium/core/contracts/work.js';
import { prepareContents } from '@atrium/core/sessions/message-contents.js';
import type { Service } from '@atrium/core/sessions/service.js';
import { IMPORTED_FROM, type ImportPage, readImportPage } from '@atrium/core/sessions/session-import.js';
import { isLarge, shownResult } from '@atrium/core/tool-calls/large-results.js';
import { ErrorCode, type ResponsePart, SessionStatus, type Turn } from '@atrium/protocol/ahp-1';
import type { PastSession, Source } from './past-session.js';

interface ImportsOptions {
  /** Loaded when a client asks. */
  readonly sources: () => Promise<readonly Source[]>;
  /** Whether a session with this URI exists, or did and can be restored. */
  readonly isKnown: (uri: string) => boolean;
  /** The ids of this host's agents, beginning with the one for new sessions. */
  readonly agents: () => readonly string[];
  /** Where large contents are stored. */
  readonly blobs: BlobStore | undefined;
  readonly store: (page: ImportPage, caller: Caller) => Promise<void>;
}

const TURNS_IN_PAGE = 50;

export function imports(options: ImportsOptions): Service {
  return {
    // A long import must not delay other requests of its client.
    lanes: { 'atrium/findImports': 'aside', 'atrium/importFound': 'aside' },
    extensionRequests: {
      'atrium/findImports': async (_caller, { program }, work) => {
        const items = [];
        const sources = await chosen(options, program);
        for (const [index, source] of sources.entries()) {
          work.report({ done: index, total: sources.length, message: `Looking for sessions of ${source.name}` });
          work.signal.throwIfAborted();
          for (const found of await source.find()) {
            const { folder, ...rest } = found;
            const uri = uriOf(source, found.id);
            items.push({
              ...{ program: source.program, programName: source.name, ...rest },
              ...(folder !== undefined && { folder: pathToFileURL(folder).href }),
              ...(options.isKnown(uri) && { session: uri }),
            });
          }
        }
        return { items };
      },
      'atrium/importFound': async (caller, { program, id, agent }, work) => {
        const [source] = await chosen(options, program ?? '');
        const past = typeof id === 'string' ? await source?.read(id) : undefined;
        if (!source || !past)
          throw new RequestError(ErrorCode.NotFound, `there is no session ${id} of ${program} here`);
        if (past.turns.length === 0)
          throw new RequestError(ErrorCode.InvalidParams, `${id} of ${source.name} has no message that can be read`);
        const session = uriOf(source, past.id);
        if (options.isKnown(session))
          throw new RequestError(ErrorCode.SessionAlreadyExists, `${past.title} was imported before`);
        const agents = options.agents();
        const fitting = source.agents.find((each) => agents.includes(each)) ?? agents[0];
        const provider = typeof agent === 'string' ? agent : fitting;
        const pages = Math.ceil(past.turns.length / TURNS_IN_PAGE);
        const next = counted(work, pages, past.title);
        for (const page of pagesOf(past, { session, source, provider })) {
          // The session exists only once its last page is stored.
          work.signal.throwIfAborted();
          const turns = await Promise.all(page.turns.map((turn) => withStored(turn, options.blobs)));
          const checked = readImportPage({ ...page, turns }, caller);
          if (checked) await options.store(checked, caller);
          next();
        }
        return { session, turns: past.turns.length, unreadable: past.unreadable };
      },
    },
  };
}

async function chosen({ sources }: ImportsOptions, program: unknown): Promise<readonly Source[]> {
  const all = await sources();
  if (program === undefined) return all;
  const found = all.filter((source) => source.program === program);
  if (found.length > 0) return found;
  const names = all.map((source) => source.program).join(', ');
  throw new RequestError(ErrorCode.InvalidParams, `/program must be one of ${names}`);
}

/** The ids consist of letters, digits, - and _. */
function uriOf({ program }: Source, id: string): string {
  return `ahp-session:/${program}-${id}`;
}

interface Target {
  readonly session: string;
  readonly source: Source;
  readonly provider: string | undefined;
}

type Page = Record<string, unknown> & { readonly turns: readonly Turn[] };

/** Stores large pictures once, by their hash, like those of a message that is sent here. */
async function withStored(turn: Turn, blobs: BlobStore | undefined): Promise<Turn> {
  const taken = await prepareContents(turn.message, blobs);
  const responseParts = await Promise.all(turn.responseParts.map((part) => storedPart(part, blobs)));
  return { ...turn, ...('message' in taken && { message: taken.message }), responseParts };
}

async function storedPart(part: ResponsePart, blobs: BlobStore | undefined): Promise<ResponsePart> {
  if (part.kind !== 'toolCall' || part.toolCall.status !== 'completed' || !blobs) return part;
  const { toolCall } = part;
  const hasPictures = toolCall.content?.some(({ type }) => type === 'embeddedResource');
  if (!hasPictures || !isLarge(toolCall)) return part;
  return { ...part, toolCall: { ...toolCall, ...(await shownResult(blobs, toolCall)) } };
}

function* pagesOf(past: PastSession, { session, source, provider }: Target): Generator<Page> {
  const { turns, title, createdAt, modifiedAt, folder } = past;
  for (let start = 0; start < turns.length; start += TURNS_IN_PAGE) {
    const isLast = start + TURNS_IN_PAGE >= turns.length;
    const summary = {
      ...{ resource: session, provider, title, status: SessionStatus.Idle, createdAt, modifiedAt },
      ...(folder !== undefined && { workingDirectories: [pathToFileURL(folder).href] }),
      _meta: { [IMPORTED_FROM]: { program: source.program, name: source.name, id: past.id } },
    };
    const page = { channel: session, start, turns: turns.slice(start, start + TURNS_IN_PAGE) };
    yield { ...page, ...(isLast && { state: { summary } }) };
  }
}
