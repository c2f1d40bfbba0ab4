/** The agent's own session behind one of ours: the one it had, where it can go back to it, or else a new one. */
import type { McpServer, NewSessionResponse } from '@agentclientprotocol/sdk';
import { AgentError, type AgentOpenContext } from '../../core/contracts/agent.js';
import { isRecord } from '../../core/util/shape.js';
import { transcriptOf } from '../shared/transcript.js';
import { SESSION_MAX_MS, TRANSCRIPT_LIMITS, TRANSCRIPT_TURNS_MAX } from './limits.js';
import type { AcpLink } from './link.js';
import { type ModelSetting, modelSettingIn } from './model-setting.js';

export interface Thread {
  /** As the agent knows it. */
  readonly id: string;
  /** The agent had none before. */
  readonly isNew?: boolean;
  /** What was said before, when the agent does not know it. */
  readonly transcript?: string | undefined;
  /** The rules that it has been told; the same ones are not told again. */
  readonly preface?: string;
  /** Absent where the agent chooses its model itself. */
  readonly model?: ModelSetting | undefined;
}

export interface ThreadPlace {
  readonly cwd: string;
  readonly mcpServers: McpServer[];
  readonly mode: string | undefined;
}

export async function openThread(link: AcpLink, place: ThreadPlace, context: AgentOpenContext): Promise<Thread> {
  const { mode: modeId, ...params } = place;
  const thread = await openedThread(link, params, context);
  const { id: sessionId } = thread;
  if (modeId === undefined) return thread;
  await link.request((agent) => agent.request('session/set_mode', { sessionId, modeId }), SESSION_MAX_MS);
  return thread;
}

type Params = Omit<ThreadPlace, 'mode'>;

async function openedThread(link: AcpLink, params: Params, context: AgentOpenContext): Promise<Thread> {
  const known = knownId(context.memory.get());
  const resumed = known === undefined ? undefined : await wentBack(link, params, known);
  if (known !== undefined && resumed) return { id: known, model: modelSettingIn(resumed.configOptions) };
  const opened = await link.request<NewSessionResponse>(
    (agent) => agent.request('session/new', params),
    SESSION_MAX_MS,
  );
  const { sessionId: id } = opened;
  const turns = await context.history(TRANSCRIPT_TURNS_MAX);
  const transcript = transcriptOf(turns, TRANSCRIPT_LIMITS);
  // One that has yet to be told what was said before is no session to go back to.
  if (transcript === undefined) remember(context, id);
  return { id, isNew: true, transcript, model: modelSettingIn(opened.configOptions) };
}

/** The agent knows all of it by this id, also in another process. */
export function remember({ memory }: AgentOpenContext, sessionId: string): void {
  memory.set({ sessionId });
}

function knownId(memory: unknown): string | undefined {
  return isRecord(memory) && typeof memory.sessionId === 'string' ? memory.sessionId : undefined;
}

type Resumed = Pick<NewSessionResponse, 'configOptions'>;

/** Some agents say that they can, and then cannot: any failure but a missing login means that it is gone. */
async function wentBack(link: AcpLink, opening: Params, sessionId: string): Promise<Resumed | undefined> {
  const { loadSession, sessionCapabilities } = link.capabilities;
  if (!loadSession && !sessionCapabilities?.resume) return undefined;
  const params = { ...opening, sessionId };
  // Resuming is the shorter way: loading says everything again, which nobody needs to hear.
  const method = sessionCapabilities?.resume ? 'session/resume' : 'session/load';
  try {
    return (await link.request<Resumed | undefined>((agent) => agent.request(method, params), SESSION_MAX_MS)) ?? {};
  } catch (error) {
    if (!link.isOpen || (error instanceof AgentError && error.errorType === 'auth')) throw error;
    return undefined;
  }
}
