import type { ToolCallState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { ToolInputs } from '../../src/chat/tool-inputs.js';

function askingCall(index: number): ToolCallState {
  return { toolCallId: `c${index}`, toolInput: { uri: `atrium-input:/c${index}` } } as unknown as ToolCallState;
}

describe('input that a terminal reads by reference', () => {
  it('[UP-253] is read once while its call asks, and leaves memory when many others have asked since', async () => {
    const read: string[] = [];
    const client = {
      request: async (_method: string, { uri }: { uri: string }) => {
        read.push(uri);
        return { data: `text of ${uri}`, encoding: 'utf-8' };
      },
    };
    const shown = async (call: ToolCallState) => {
      await new Promise<void>((onReady) => {
        ready = onReady;
        if (inputs.ofCall(call).state === 'here') onReady();
      });
      return inputs.ofCall(call);
    };
    let ready = () => {};
    const inputs = new ToolInputs({ client: client as never, isLocal: false, onReady: () => ready() });
    const calls = Array.from({ length: 20 }, (_, index) => askingCall(index));
    for (const call of calls) {
      const text = `text of atrium-input:/${call.toolCallId}`;
      expect([await shown(call), await shown(call)]).toEqual(Array(2).fill({ state: 'here', text }));
    }
    expect(read).toHaveLength(20);
    const [first = askingCall(0)] = calls;
    expect(await shown(first)).toMatchObject({ state: 'here' });
    expect(read.slice(20)).toEqual(['atrium-input:/c0']);
  });
});
