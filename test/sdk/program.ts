/**
 * A program of somebody who installed the client and provider libraries. `npm run test:types` compiles it against their
 * packages with several compilers. A line under `@ts-expect-error` has to fail: so a type that became `any` is noticed.
 */
import { type Client, connect, type OpenSession } from '@atrium/client';
import * as link from '@atrium/link';
import * as older from '@atrium/protocol';
import type { ChatState } from '@atrium/protocol/ahp-1';
import * as model from '@atrium/protocol/ahp-1';
import * as fromHost from '@atrium/protocol/ahp-1/from-host';
import * as schemas from '@atrium/protocol/ahp-1/schemas';
import * as validation from '@atrium/protocol/ahp-1/validation';
import * as dialects from '@atrium/protocol/dialects';
import * as wire from '@atrium/protocol/provider';
import * as olderSchemas from '@atrium/protocol/schemas';
import * as olderValidation from '@atrium/protocol/validation';
import { allow, connectProvider, deny, fileResult, type Provider, ToolError } from '@atrium/provider';
import { type FakeGateway, fakeGateway } from '@atrium/provider/testing';

/** Every entry of the packages. */
export const entries = [
  ...[link, older, model, fromHost, schemas, validation],
  ...[dialects, wire, olderSchemas, olderValidation],
];

export async function ask(url: string, text: string): Promise<string> {
  const client: Client = await connect({ url, clientId: 'program' });
  const session: OpenSession = await client.open(await client.createSession({ workingDirectories: ['file:///tmp'] }));
  const { chat } = session;
  await chat.dispatch({ type: 'chat/turnStarted', turnId: 'one', message: { text } });
  // @ts-expect-error there is no such action
  chat.dispatch({ type: 'chat/nonsense' }).catch(() => {});
  for await (const { activeTurn, turns } of chat) if (activeTurn === undefined) return answerOf(turns);
  for await (const { action, serverSeq } of chat.actions()) {
    const seq: number = serverSeq;
    if (action.type === 'chat/turnComplete') return `${action.turnId} at ${seq}`;
  }
  client.close();
  return '';
}

function answerOf(turns: ChatState['turns']): string {
  const parts = turns.flatMap(({ responseParts }) => responseParts);
  return parts.map((part) => (part.kind === 'markdown' ? part.content : '')).join('\n');
}

export function watcher(): Provider {
  return connectProvider({
    name: 'watcher',
    tools: {
      status: {
        description: 'Tells the status.',
        parameters: { type: 'object' },
        run: (args, { signal, progress }) => {
          // @ts-expect-error arguments are not known
          const wrong: string = args.file;
          if (signal.aborted) throw new ToolError('CANCELLED', wrong);
          progress('looking');
          return fileResult({ path: '/tmp/status', mimeType: 'text/plain', size: 3 });
        },
      },
    },
    gates: [{ match: { tool: 'shell' }, check: ({ tool }) => (tool === 'shell' ? deny('not now') : allow()) }],
    onState: (state) => {
      if (state.at === 'closed') console.error(state.error?.message);
    },
  });
}

export function inTest(): FakeGateway {
  return fakeGateway();
}
