/** Commands of the chat that go back: /rewind to any message, /undo to the last one, /redo takes that back. */
import {
  REWIND_KINDS,
  REWIND_METHOD,
  type RewindKind,
  type RewindParams,
  type RewindPreview,
  type RewindResult,
  type Turn,
  UNDO_REWIND_METHOD,
} from '@atrium/protocol/ahp-1';
import { newestTurns, previewLines, previewRewind } from '../sessions/rewind.js';
import { ago, folderOf } from '../sessions/summary-text.js';
import { printable } from '../text/printable.js';
import { padded } from '../text/width.js';
import { picked } from './pick-task.js';
import { Picker } from './picker.js';
import { undo as putBackFiles, type Task, type TaskContext } from './tasks.js';

const NUMBER_COLUMNS = 4;
const TIME_COLUMNS = 8;

const KIND_WORDS: Readonly<Record<RewindKind, string>> = {
  both: 'conversation and files',
  conversation: 'only the conversation',
  files: 'only files',
};

/** Goes back to any message: by the number after the command, or one from a list. */
export function rewind(words: string): Task {
  return async (context) => {
    const { client, open } = context;
    const total = (open.chat.olderCount ?? 0) + open.state.chat.turns.length;
    if (open.state.chat.activeTurn) return context.note('A turn is running: wait for its end, or stop it with Esc.');
    if (total === 0) return context.note('There is nothing to go back to yet.');
    const { first, turns } = await newestTurns(client, open.chat.uri, total);
    const number = /^\d{1,6}$/.test(words) ? Number(words) : undefined;
    if (words !== '' && number === undefined)
      return context.note('Write /rewind, or the number of a message: /rewind 3');
    const turn = number === undefined ? await chosenTurn(context, { first, turns }) : turns[number - first];
    if (!turn) return number === undefined ? undefined : context.note(`There is no message ${number} here.`);
    const preview = await shown(context, turn.id, 'both');
    const what = await chosenKind(context, preview);
    if (what) await done(context, { turn, what, preview });
    else context.note('Nothing was changed.');
  };
}

/** Undoes the last revert or discard of this chat, if there is one; otherwise takes back the last message. */
export const undo: Task = async (context) => {
  if (context.recall.undo) return putBackFiles(context);
  const turn = context.open.state.chat.turns.at(-1);
  if (!turn) return context.note('There is nothing to undo yet.');
  const preview = await shown(context, turn.id, 'both');
  if (await context.ask('Take this message back, with its files?'))
    await done(context, { turn, what: 'both', preview });
  else context.note('Nothing was changed.');
};

export const redo: Task = async ({ open, note, long }) => {
  const { message } = (await long(UNDO_REWIND_METHOD, { channel: open.session.uri })) as { readonly message: string };
  note(message);
};

interface Going {
  readonly turn: Turn;
  readonly what: RewindKind;
  readonly preview: RewindPreview;
}

async function done(context: TaskContext, { turn, what, preview: { plan } }: Going): Promise<void> {
  const { open } = context;
  const params: RewindParams = { channel: open.chat.uri, turnId: turn.id, what, plan };
  const { message, text } = (await context.long(REWIND_METHOD, params)) as RewindResult;
  if (what !== 'files') context.write(text);
  context.note(`${message} /redo takes that back, until the next message.`);
}

async function shown(context: TaskContext, turnId: string, what: RewindKind): Promise<RewindPreview> {
  const { client, open } = context;
  const preview = await previewRewind(client, { channel: open.chat.uri, turnId });
  const { style, columns } = context.view();
  context.show([...previewLines(preview, what, { style, columns, folder: folderOf(open.state.session) }), '']);
  return preview;
}

interface Listed {
  readonly first: number;
  readonly turns: readonly Turn[];
}

async function chosenTurn(context: TaskContext, { first, turns }: Listed): Promise<Turn | undefined> {
  const items = turns.map((turn, index) => ({ turn, number: first + index })).reverse();
  const picker = new Picker<(typeof items)[number]>({
    ...{ question: 'Back to before which message?', noun: 'message' },
    items: () => items,
    words: ({ turn }) => turn.message.text,
    row: ({ turn, number }) =>
      [
        padded(String(number), NUMBER_COLUMNS),
        padded(ago(turn.startedAt ?? '', Date.now()), TIME_COLUMNS),
        printable(turn.message.text.replace(/\s+/g, ' ')),
      ].join('  '),
  });
  return (await picked(context, picker))?.turn;
}

async function chosenKind(context: TaskContext, { files }: RewindPreview): Promise<RewindKind | undefined> {
  const kinds = files.length > 0 ? REWIND_KINDS : REWIND_KINDS.filter((kind) => kind !== 'files');
  const picker = new Picker<RewindKind>({
    ...{ question: 'What goes back?', noun: 'choice' },
    items: () => kinds,
    words: (kind) => KIND_WORDS[kind],
    row: (kind) => KIND_WORDS[kind],
  });
  return picked(context, picker);
}
