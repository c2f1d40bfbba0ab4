/** Lists the files of a project that the model agent and Claude read as instructions, with their sizes. */
import { pathToFileURL } from 'node:url';
import { instructionFiles } from '@atrium/agents';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import { foldersOf } from '@atrium/core/util/folders.js';
import { filesInInput } from '@atrium/core/util/input-files.js';
import { ErrorCode, INSTRUCTIONS_METHOD, type InstructionFile, type Turn } from '@atrium/protocol/ahp-1';

/** Finding them means reading a few dozen folders. */
const READ_MAX_MS = 5_000;

export function instructionList(sessions: Pick<Sessions, 'open' | 'sessionUriOf'>): Service {
  const list = async (channel: string): Promise<readonly InstructionFile[]> => {
    const session = await sessions.open(sessions.sessionUriOf(channel));
    if (!session) throw new RequestError(ErrorCode.SessionNotFound, `/channel: there is no session ${channel}`);
    const { turns, activeTurn } = (session.chatAt(channel) ?? session.chat).state;
    const touched = [...turns, ...(activeTurn ? [activeTurn] : [])].flatMap(touchedIn);
    const signal = AbortSignal.timeout(READ_MAX_MS);
    const found = await instructionFiles({ folders: foldersOf(session.state), touched, signal });
    return found.map(({ file, ...rest }) => ({ uri: pathToFileURL(file).href, ...rest }));
  };
  return {
    lanes: { [INSTRUCTIONS_METHOD]: 'free' },
    extensionRequests: {
      [INSTRUCTIONS_METHOD]: async (_caller, { channel }) => ({ items: await list(String(channel)) }),
    },
  };
}

/** The files that the calls of a turn name, as the agent sees them. */
function touchedIn({ responseParts }: Pick<Turn, 'responseParts'>): string[] {
  return responseParts.flatMap((part) => {
    const toolInput = part.kind === 'toolCall' && 'toolInput' in part.toolCall ? part.toolCall.toolInput : undefined;
    if (typeof toolInput !== 'string') return [];
    try {
      const input: unknown = JSON.parse(toolInput);
      return typeof input === 'object' && input !== null ? filesInInput(input as Record<string, unknown>) : [];
    } catch {
      return [];
    }
  });
}
