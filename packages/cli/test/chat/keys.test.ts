import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Key, KeyReader } from '../../src/chat/keys.js';

function read(...chunks: string[]): Key[] {
  const keys: Key[] = [];
  const reader = new KeyReader((key) => keys.push(key));
  for (const chunk of chunks) reader.feed(chunk);
  reader.close();
  return keys;
}

/** Both ends of a connection, for bytes that arrive while nobody looks. */
async function line(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  const accepted = once(server, 'connection');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await accepted) as [Socket];
  onTestFinished(() => void [near.destroy(), far.destroy(), server.close()]);
  return { near, far };
}

function busyFor(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

describe('keys', () => {
  it('does not take an arrow for Escape when the machine is too busy to read the rest of it in time', async () => {
    const { near, far } = await line();
    const keys: Key[] = [];
    const reader = new KeyReader((key) => keys.push(key));
    far.setEncoding('utf8').on('data', (chunk: string) => reader.feed(chunk));
    near.setNoDelay().write('\u001b');
    await once(far, 'data');
    near.write('[A');
    busyFor(200);
    await expect.poll(() => keys).not.toEqual([]);
    expect(keys).toEqual([{ name: 'up' }]);
    reader.feed('\u001b');
    await expect.poll(() => keys).toEqual([{ name: 'up' }, { name: 'escape' }]);
  });

  it('reads text, controls, arrows and what is held with them', () => {
    expect(read('hé👍')).toEqual([{ name: 'text', text: 'hé👍' }]);
    expect(read('a\r')).toEqual([{ name: 'text', text: 'a' }, { name: 'enter' }]);
    expect(read('\u0003\n\u007f')).toEqual([{ name: 'c', ctrl: true }, { name: 'newline' }, { name: 'backspace' }]);
    expect(read('\u001b[A\u001bOB\u001b[1;5C\u001b[3~')).toEqual([
      { name: 'up' },
      { name: 'down' },
      { name: 'right', ctrl: true },
      { name: 'delete' },
    ]);
    expect(read('\u001b\r\u001bb\u001b[13;2u')).toMatchObject([
      { name: 'enter', alt: true },
      { name: 'b', alt: true },
      { name: 'enter', shift: true },
    ]);
  });

  it('takes a paste as one piece, wherever it is cut', () => {
    const pasted = [{ name: 'paste', text: 'one\ntwo' }, { name: 'enter' }];
    expect(read('\u001b[200~one\r\ntwo\u001b[201~\r')).toEqual(pasted);
    expect(read(...'\u001b[200~one\r\ntwo\u001b[201~\r')).toEqual(pasted);
  });

  it('waits a moment to tell Escape from a sequence', async () => {
    expect(read('\u001b')).toEqual([]);
    expect(read('\u001b', '[A')).toEqual([{ name: 'up' }]);
    const keys: Key[] = [];
    new KeyReader((key) => keys.push(key)).feed('\u001b');
    await vi.waitFor(() => expect(keys).toEqual([{ name: 'escape' }]), 10_000);
  });
});
