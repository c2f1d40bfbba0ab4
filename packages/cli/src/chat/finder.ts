/** Asks the host what a word of a message could become. */
import type { Client } from '@atrium/client';
import type { Finder } from './message-line.js';

/** Completion is a help: where there is none, one types on. */
export function finderOf(client: Client, channel: string, changed: () => void): Finder {
  return {
    triggers: () => client.host.completionTriggerCharacters ?? [],
    find: async (text, offset) => {
      const { items } = await client.request('completions', { channel, kind: 'userMessage', text, offset });
      return items;
    },
    changed,
  };
}
