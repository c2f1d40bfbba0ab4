/** Agents behind ACP in sessions with several folders. */
import { realpath } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { ChatState } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ACP_TEST_MAX_MS } from '../support/acp-fixture.js';
import { acpSubject, type Way } from '../support/acp-subject.js';
import { chatState, nativeClient, nativeSession, nativeTurn, sessionState } from '../support/native-client.js';
import { refusalOf, startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

async function inFolders(ways: readonly Way[]) {
  const subject = await acpSubject([{ text: ['one'] }, { text: ['two'] }, { text: ['three'] }], ways);
  onTestFinished(() => subject.close());
  const host = await startHost({ agents: [subject.agent] });
  const client = await nativeClient(host, 'desk');
  const folders = await Promise.all([1, 2, 3].map(async () => realpath(await tempFolder())));
  const uris = folders.map((folder) => pathToFileURL(folder).href);
  const { uri, chat } = await nativeSession(client, { provider: 'orchard', workingDirectories: uris.slice(0, 2) });
  const change = (type: string, directory = '') => refusalOf(client, uri, { type, directory } as never);
  return { subject, client, uri, chat, folders, uris, change };
}

function notes({ turns }: ChatState): string[] {
  const parts = turns.flatMap(({ responseParts }) => responseParts);
  return parts.flatMap((part) => (part.kind === 'systemNotification' ? String(part.content) : []));
}

describe('an agent behind ACP', { timeout: ACP_TEST_MAX_MS }, () => {
  it('[UP-063] that takes further folders gets them, and goes on in its session when they change', async () => {
    const { subject, client, uri, chat, folders, uris, change } = await inFolders(['takes folders']);
    const [one, two, three] = folders;
    expect((await sessionState(client, uri)).workingDirectories).toEqual(uris.slice(0, 2));
    await nativeTurn(client, chat, 'first');
    expect(await subject.notes()).toEqual([{ opened: one, folders: [two] }]);
    expect(await change('session/workingDirectorySet', uris[2])).toBeUndefined();
    await nativeTurn(client, chat, 'second');
    expect((await subject.notes()).slice(1)).toMatchObject([{ loaded: expect.any(String), folders: [two, three] }]);
    expect(await change('session/workingDirectoryRemoved', uris[1])).toBeUndefined();
    await nativeTurn(client, chat, 'third');
    expect((await subject.notes()).slice(2)).toMatchObject([{ folders: [three] }]);
    const heard = await subject.receivedMessages();
    for (const text of ['first', 'one', 'second', 'two', 'third']) expect(heard).toContain(text);
    expect(notes(await chatState(client, chat))).toEqual([]);
    // Nothing is opened again as long as they stay.
    await nativeTurn(client, chat, 'fourth');
    expect(await subject.notes()).toHaveLength(3);
  });

  it('[UP-063] that takes none works in the first, and people are told so whenever the list changes', async () => {
    const { subject, client, chat, folders, uris, change } = await inFolders([]);
    const [one = '', two = '', three = ''] = folders;
    await nativeTurn(client, chat, 'first');
    const told = async () => notes(await chatState(client, chat)).filter((note) => note.includes('further folders'));
    expect(await told()).toEqual([expect.stringContaining(two)]);
    expect((await told())[0]).toContain(`works in ${one} only`);
    await nativeTurn(client, chat, 'second');
    expect(await told()).toHaveLength(1);
    expect(await change('session/workingDirectorySet', uris[2])).toBeUndefined();
    await nativeTurn(client, chat, 'third');
    expect((await told())[1]).toContain(three);
    expect(await subject.notes()).toEqual([]);
  });
});
