/**
 * Chats attached to a message: checked and pinned when the message arrives, and turned into text for the model when its
 * turn begins.
 */
import {
  channelKind,
  type Message,
  type MessageChatAttachment,
  type ResponsePart,
  type Turn,
} from '@atrium/protocol/ahp-1';
import type { OpenChannel } from '../channels/open-channel.js';
import { shorten } from '../util/text.js';
import type { Chat } from './chat.js';
import { CHAT_TRANSCRIPT_MAX_CHARACTERS, CHAT_TRANSCRIPT_MAX_TURNS, MESSAGE_CHATS_MAX } from './limits.js';

type OpenUri = (uri: string) => Promise<OpenChannel | undefined>;

function isChatAttachment(attachment: { readonly type: string }): attachment is MessageChatAttachment {
  return attachment.type === 'chat';
}

function attachedTo({ attachments = [] }: Message): MessageChatAttachment[] {
  return attachments.filter(isChatAttachment);
}

async function chatAt(uri: string, open: OpenUri): Promise<Chat | undefined> {
  return channelKind(uri) === 'chat' ? ((await open(uri)) as Chat | undefined) : undefined;
}

/** Fills in the last turn of every attached chat that names none; or says why the message is refused. */
export async function pinnedChats(
  message: Message,
  open: OpenUri,
): Promise<{ readonly message: Message } | { readonly refused: string }> {
  const { length: count } = attachedTo(message);
  if (count === 0) return { message };
  if (count > MESSAGE_CHATS_MAX) return { refused: `a message may have at most ${MESSAGE_CHATS_MAX} chats attached` };
  const attachments = [];
  for (const attachment of message.attachments ?? []) {
    const pinned = isChatAttachment(attachment) ? await withLastTurn(attachment, open) : attachment;
    if (typeof pinned === 'string') return { refused: pinned };
    attachments.push(pinned);
  }
  return { message: { ...message, attachments } };
}

/**
 * Fills in the last turn, or says why the attachment is refused. A chat without turns has an empty transcript, which is
 * no error.
 */
async function withLastTurn(attachment: MessageChatAttachment, open: OpenUri): Promise<MessageChatAttachment | string> {
  const { resource, endTurn } = attachment;
  const chat = await chatAt(resource, open);
  if (!chat) return `there is no chat ${resource}`;
  if (endTurn === undefined) {
    const last = chat.committed.turns.at(-1)?.id;
    return last === undefined ? attachment : { ...attachment, endTurn: last };
  }
  if (chat.state.activeTurn?.id === endTurn) return `turn ${endTurn} of ${resource} is still running`;
  const index = await chat.indexOfTurn(endTurn);
  if (index === undefined) return `${resource} has no turn ${endTurn}`;
  await chat.showTurn(index);
  return attachment;
}

/** The text of the attached chats for the model. Chats that are attached inside them are left out. */
export async function attachedTranscripts(message: Message, open: OpenUri): Promise<string[]> {
  const texts: string[] = [];
  let room = CHAT_TRANSCRIPT_MAX_CHARACTERS;
  for (const { resource, label, endTurn } of attachedTo(message)) {
    const text = await transcript(await chatAt(resource, open), endTurn, room);
    room -= text.length;
    texts.push(`Attached chat "${label}":\n<transcript>\n${text}\n</transcript>`);
  }
  return texts;
}

async function transcript(chat: Chat | undefined, endTurn: string | undefined, room: number): Promise<string> {
  const index = endTurn === undefined ? undefined : await chat?.indexOfTurn(endTurn);
  if (!chat || (endTurn !== undefined && index === undefined)) return '[The chat no longer exists.]';
  const end = (index ?? -1) + 1;
  const turns = await chat.turnsBetween(Math.max(0, end - CHAT_TRANSCRIPT_MAX_TURNS), end);
  const text = turns.map(turnText).join('\n\n');
  return text.length <= room ? text : `[…]${text.slice(text.length - Math.max(0, room))}`;
}

function turnText({ message, responseParts }: Turn): string {
  return [`Person: ${message.text}`, ...responseParts.flatMap(partText)].join('\n');
}

const CALL_INPUT_CHARACTERS = 200;

function partText(part: ResponsePart): string[] {
  if (part.kind === 'markdown') return part.content === '' ? [] : [`Agent: ${part.content}`];
  if (part.kind !== 'toolCall') return [];
  const { toolCall } = part;
  const input = 'toolInput' in toolCall && typeof toolCall.toolInput === 'string' ? toolCall.toolInput : '';
  return [`Agent: [used the tool ${[toolCall.toolName, shorten(input, CALL_INPUT_CHARACTERS)].join(' ').trimEnd()}]`];
}
