import { describe, expect, it } from 'vitest';
import { offeredTools, toolNames } from '../../src/tool-calls/tool-calls.js';

const named = (...names: string[]) => names.map((name) => ({ name }));

/** What each name leads to. */
function owners(host: readonly string[], client: readonly string[]): Record<string, string> {
  const names = [...toolNames(named(...host), [{ clientId: 'c', tools: named(...client) }])];
  return Object.fromEntries(
    names.map(([name, { clientId, tool }]) => [name, `${clientId ? 'client' : 'host'} ${tool.name}`]),
  );
}

describe('the names of tools', () => {
  it('[AHP-180] [UNI-025] are one space, in which everybody keeps their own where they can', () => {
    expect(owners(['read', 'shell'], ['look'])).toEqual({
      read: 'host read',
      shell: 'host shell',
      look: 'client look',
    });
  });

  it("[AHP-180] [UNI-025] are the host's first; a client's tool gets a prefix", () => {
    expect(owners(['shell'], ['shell', 'look'])).toEqual({
      shell: 'host shell',
      client_shell: 'client shell',
      look: 'client look',
    });
  });

  it('[UNI-025] get the prefix again when any tool has that name too', () => {
    expect(owners(['shell', 'client_shell'], ['shell'])).toMatchObject({ client_client_shell: 'client shell' });
    expect(owners(['shell'], ['shell', 'client_shell'])).toEqual({
      shell: 'host shell',
      client_client_shell: 'client shell',
      client_shell: 'client client_shell',
    });
  });

  it('count once for each owner', () => {
    expect(owners(['a', 'a'], ['b', 'b'])).toEqual({ a: 'host a', b: 'client b' });
  });

  it('are of the first of two clients that offer the same', () => {
    const clients = ['one', 'two'].map((clientId) => ({ clientId, tools: named('look') }));
    const names = [...toolNames([], clients)].map(([name, { clientId }]) => [name, clientId]);
    expect(names).toEqual([['look', 'one']]);
  });

  it('are what a model is offered', () => {
    const client = [{ name: 'shell', title: 'My shell' }];
    expect(offeredTools(named('shell'), [{ clientId: 'c', tools: client }])).toEqual([
      { name: 'shell' },
      { name: 'client_shell', title: 'My shell' },
    ]);
  });
});
