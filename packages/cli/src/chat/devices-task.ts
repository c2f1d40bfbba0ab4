/** /devices: lists devices, adds one, or removes one. */
import { type Device, REMOVE_DEVICE_METHOD } from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { deviceLines, invitationText, inviteDevice, listDevices } from '../devices.js';
import { printable } from '../text/printable.js';
import { picked } from './pick-task.js';
import { Picker } from './picker.js';
import type { Task } from './tasks.js';

type Choice = { readonly kind: 'add' } | { readonly kind: 'device'; readonly device: Device; readonly line: string };

export const devices: Task = async (context) => {
  const list = await listDevices(context.client);
  const lines = deviceLines(list);
  const choices: Choice[] = [
    { kind: 'add' },
    ...list.items.map((device, index) => ({ kind: 'device' as const, device, line: lines[index] ?? '' })),
  ];
  const choice = await picked(
    context,
    new Picker<Choice>({
      ...{ question: 'Devices:', noun: 'device' },
      items: () => choices,
      words: (each) => rowOf(each),
      row: rowOf,
    }),
  );
  if (choice?.kind === 'add') {
    const invitation = await inviteDevice(context.client, {});
    for (const line of (await invitationText(invitation)).split('\n')) context.note(line);
  }
  if (choice?.kind === 'device') await remove(context, choice.device);
};

const remove = async (context: Parameters<Task>[0], { id, name }: Device): Promise<void> => {
  const isSure = await picked(
    context,
    new Picker<boolean>({
      ...{ question: `Send ${printable(name)} away?`, noun: 'answer' },
      items: () => [false, true],
      words: (yes) => (yes ? 'remove' : 'keep'),
      row: (yes) => (yes ? 'Remove it: it is out at once' : 'Keep it'),
    }),
  );
  if (!isSure) return;
  await callExtension(context.client, REMOVE_DEVICE_METHOD, { id });
  context.note(`${printable(name)} is out.`);
};

function rowOf(choice: Choice): string {
  return choice.kind === 'add' ? 'Add a device' : choice.line;
}
