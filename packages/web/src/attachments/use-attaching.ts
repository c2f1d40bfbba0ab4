/** Brings pictures and files to the host, one after the other, while the person goes on writing. */
import type { Client } from '@atrium/client';
import { MESSAGE_CONTENTS_MAX, type MessageAttachment } from '@atrium/protocol/ahp-1';
import { useEffect, useRef, useState } from 'react';
import { problemText } from '../host/problem.js';
import { attachFile } from './contents.js';

export interface Attaching {
  /** The names of files that are on their way. */
  readonly pending: readonly string[];
  /** Notes for the person: refused files, and files with a misleading name. */
  readonly notes: readonly string[];
  add(files: Iterable<File>): void;
  forgetNotes(): void;
  tell(note: string): void;
}

/** The queue of each connection, which carries one content after the other. */
const lines = new WeakMap<Client, Promise<unknown>>();

function inLine<T>(client: Client, work: () => Promise<T>): Promise<T> {
  const mine = (lines.get(client) ?? Promise.resolve()).then(work);
  lines.set(
    client,
    mine.catch(() => {}),
  );
  return mine;
}

export function useAttaching(
  client: Client,
  attachments: readonly MessageAttachment[],
  /** Gets a function over the attachments at that time, because others may change while a file is on its way. */
  onChange: (change: (before: readonly MessageAttachment[]) => readonly MessageAttachment[]) => void,
): Attaching {
  const [pending, setPending] = useState<readonly string[]>([]);
  const [notes, setNotes] = useState<readonly string[]>([]);
  const latest = useRef({ attachments, onChange });
  useEffect(() => {
    latest.current = { attachments, onChange };
  });
  const note = (text: string) => setNotes((before) => [...before, text]);
  const bring = async (file: File) => {
    try {
      const { attachment, note: told } = await inLine(client, () => attachFile(client, file));
      if (told !== undefined) note(told);
      const isSame = (each: MessageAttachment) =>
        'uri' in each && each.uri === attachment.uri && each.label === attachment.label;
      latest.current.onChange((before) => (before.some(isSame) ? before : [...before, attachment]));
    } catch (error) {
      note(problemText(error));
    } finally {
      setPending((before) => before.toSpliced(before.indexOf(file.name), 1));
    }
  };
  return {
    pending,
    notes,
    forgetNotes: () => setNotes([]),
    tell: (text) => setNotes([text]),
    add(files) {
      const all = [...files];
      const room = MESSAGE_CONTENTS_MAX - pending.length - latest.current.attachments.filter(isContent).length;
      setNotes(
        all.length > room ? [`A message takes ${MESSAGE_CONTENTS_MAX} pictures and files; the rest was left out.`] : [],
      );
      const taken = all.slice(0, Math.max(0, room));
      setPending((before) => [...before, ...taken.map(({ name }) => name)]);
      for (const file of taken) void bring(file);
    },
  };
}

/** Adds an attachment unless the list already has it. */
export function withAttachment(
  items: readonly MessageAttachment[],
  added: MessageAttachment,
): readonly MessageAttachment[] {
  const text = JSON.stringify(added);
  return items.some((item) => JSON.stringify(item) === text) ? items : [...items, added];
}

/** Compares contents: the host sends a stored draft again, as new objects. */
export function withoutAttachment(
  items: readonly MessageAttachment[],
  removed: MessageAttachment,
): readonly MessageAttachment[] {
  const said = JSON.stringify(removed);
  return items.filter((each) => JSON.stringify(each) !== said);
}

function isContent(attachment: MessageAttachment): boolean {
  if (attachment.type === 'embeddedResource') return true;
  return 'uri' in attachment && String(attachment.uri).startsWith('atrium-content:');
}
