/** Commands about the chats of a session: /chat, /fork, /aside, /close. */
import { isPinned, type MultipleChatsCapability, PIN_METHOD } from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { carriedSelection, userMessage } from '../sessions/turn-text.js';
import { printable } from '../text/printable.js';
import type { Task, TaskContext } from './tasks.js';

/** Another conversation beside this one, without its history. */
export function anotherChat(words: string): Task {
  return async (context) => {
    if (!offered(context))
      return context.note(`${agentName(context)} has one chat in a session only. Another session: /new`);
    const { client, open } = context;
    context.goTo(await client.createChat(open.session.uri), { prompt: words || undefined });
  };
}

/** A copy of this conversation up to its last finished turn, to try another way. */
export function fork(words: string): Task {
  return async (context) => {
    if (!offered(context)?.fork) return context.note(`${agentName(context)} cannot fork a chat.`);
    const source = sourceOf(context);
    if (!source) return context.note('There is nothing to fork yet: no turn has ended here.');
    const { client, open } = context;
    const uri = await client.createChat(open.session.uri, { source: { kind: 'fork', ...source } });
    context.goTo(uri, { prompt: words || undefined, isFamiliar: true });
  };
}

/** A question beside the conversation: the agent knows this conversation, and the answer stays outside it. */
export function aside(words: string): Task {
  return async (context) => {
    if (!offered(context)?.sideChat) return context.note(`${agentName(context)} has no side chats.`);
    if (words === '') return context.note('Write the question behind it: /aside what does that mean?');
    const source = sourceOf(context);
    if (!source) return context.note('Nothing was said here yet: ask it right here.');
    const { client, open } = context;
    const initialMessage = userMessage(words, carriedSelection(open.state.chat));
    context.goTo(
      await client.createChat(open.session.uri, { source: { kind: 'sideChat', ...source }, initialMessage }),
    );
  };
}

/** Removes the chat and goes back to the one that it came from. */
export const closeChat: Task = async (context) => {
  const { client, open } = context;
  const { session, chat } = open.state;
  if (chat.resource === session.defaultChat)
    return context.note('This is the first chat of the session, and stays with it. /chats goes to another one.');
  const count = chat.turns.length;
  const what = count === 0 ? 'this chat' : `this chat and what was said in it`;
  if (await context.ask(`Close ${what} for good?`)) await client.disposeChat(chat.resource);
};

/** The host stores the pin, so it counts for every client. */
export const pin: Task = async ({ client, open, note }) => {
  const pinned = !isPinned(open.state.session);
  await callExtension(client, PIN_METHOD, { channel: open.session.uri, pinned });
  note(pinned ? 'This session stands above others now. /pin ends that.' : 'This session is not pinned any more.');
};

function sourceOf({ open }: TaskContext): { chat: string; turnId: string } | undefined {
  const { turns, resource } = open.state.chat;
  const last = turns.at(-1);
  return last && { chat: resource, turnId: last.id };
}

function offered(context: TaskContext): MultipleChatsCapability | undefined {
  return context.agent()?.capabilities?.multipleChats;
}

function agentName(context: TaskContext): string {
  return `The agent ${printable(context.agent()?.displayName ?? context.open.state.session.provider)}`;
}
