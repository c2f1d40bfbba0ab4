/** /notify: whether this terminal notifies the person, and which other receivers there are. */
import { NOTIFICATIONS_METHOD } from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { io } from '../io.js';
import { readReceivers, receiverLines } from '../notify/receivers.js';
import { callFor, silence } from './attention.js';
import type { Task } from './tasks.js';

const HOW = 'Write /notify on, /notify off or /notify test. atrium notify manages all receivers.';

export function notify(words: string): Task {
  return async ({ client, note, view }) => {
    if (words === 'test') return void io().stdout.write(callFor({ title: 'This is how Atrium calls you.' }, io().env));
    if (words === 'on' || words === 'off') {
      silence(client, words === 'off');
      return note(words === 'on' ? 'This terminal rings when you are needed here.' : 'This terminal stays silent.');
    }
    if (words !== '') return note(HOW);
    const { items } = readReceivers(await callExtension(client, NOTIFICATIONS_METHOD, {}));
    const { columns } = view();
    const listed = items.length === 0 ? ['Nobody else is told.'] : receiverLines(items, columns);
    note([...listed, HOW].join('\n'));
  };
}
