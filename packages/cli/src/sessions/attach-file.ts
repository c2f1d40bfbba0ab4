/** Brings a file of this machine to the host, so that a message can name it. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '@atrium/client';
import {
  ATTACH_METHOD,
  ATTACH_PIECE_CHARACTERS,
  ATTACHMENT_MAX_BYTES,
  type AttachResult,
  MESSAGE_CONTENTS_MAX,
  type MessageAttachment,
} from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';

/** Stores files at the host, in order, each with a note for the person. */
export async function attachFiles(
  client: Client,
  files: readonly string[],
  note: (text: string) => void,
): Promise<MessageAttachment[]> {
  if (files.length > MESSAGE_CONTENTS_MAX)
    throw new UsageError(`a message takes ${MESSAGE_CONTENTS_MAX} files at most, and not ${files.length}`);
  const contents = await Promise.all(files.map(readContent));
  const attachments: MessageAttachment[] = [];
  for (const { name, bytes } of contents) {
    const { attachment, note: about } = await attachBytes(client, name, bytes);
    if (about !== undefined) note(about);
    attachments.push(attachment);
  }
  return attachments;
}

export async function attachFile(client: Client, file: string): Promise<AttachResult> {
  const { name, bytes } = await readContent(file);
  return attachBytes(client, name, bytes);
}

async function readContent(file: string): Promise<{ name: string; bytes: Buffer }> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${file} is not a file that can be attached`);
  if (found.size > ATTACHMENT_MAX_BYTES)
    throw new UsageError(
      `${file} is larger than ${ATTACHMENT_MAX_BYTES / 2 ** 20} MiB: put it into the session's folder, and name it in the message`,
    );
  return { name: path.basename(file), bytes: await readFile(file) };
}

export async function attachBytes(client: Client, name: string, bytes: Buffer): Promise<AttachResult> {
  if (bytes.length > ATTACHMENT_MAX_BYTES)
    throw new UsageError(`${name} is larger than ${ATTACHMENT_MAX_BYTES / 2 ** 20} MiB`);
  const base64 = bytes.toString('base64');
  for (let at = 0; ; at += ATTACH_PIECE_CHARACTERS) {
    const text = base64.slice(at, at + ATTACH_PIECE_CHARACTERS);
    const isLast = at + text.length === base64.length;
    const result = await client.requestExtension(ATTACH_METHOD, { name, at, text, isLast });
    if (isLast) return result as AttachResult;
  }
}
