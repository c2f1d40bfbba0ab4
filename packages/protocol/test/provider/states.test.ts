import { describe, expect, it } from 'vitest';
import { TO_GATEWAY_TYPES, type ToGatewayMessageType } from '../../src/provider/message-types.js';
import {
  CONNECTION_STATE_RULES,
  CONNECTION_STATES,
  type ConnectionState,
  isLegalIn,
} from '../../src/provider/states.js';

const LEGAL: Record<ConnectionState, readonly [id: string, types: readonly ToGatewayMessageType[]]> = {
  Connected: ['', []],
  AwaitAuth: ['[GW-059] ', ['auth']],
  AwaitPairing: ['[GW-060] ', ['auth.confirm']],
  AwaitHello: ['[GW-061] ', ['hello']],
  Bound: ['[GW-062] ', TO_GATEWAY_TYPES],
  Rebinding: ['', []],
  Unbound: ['[GW-064] ', ['hello', 'goodbye']],
  Disconnected: ['', []],
};

describe('the states of a connection', () => {
  it('[GW-058] are these eight', () => {
    expect(CONNECTION_STATES).toEqual(Object.keys(LEGAL));
    expect(Object.keys(CONNECTION_STATE_RULES)).toEqual(Object.keys(LEGAL));
  });

  for (const state of CONNECTION_STATES) {
    const [id, types] = LEGAL[state];
    it(`${id}${state}: ${types.length} of the ${TO_GATEWAY_TYPES.length} types are legal`, () => {
      expect(TO_GATEWAY_TYPES.filter((type) => isLegalIn(state, type)).sort()).toEqual([...types].sort());
    });
  }

  it('hold what comes during a change, ignore what comes after the end, refuse the rest', () => {
    const fates = CONNECTION_STATES.map((state) => [state, CONNECTION_STATE_RULES[state].otherwise]);
    const others = fates.filter(([, fate]) => fate !== 'refuse');
    expect(others).toEqual([
      ['Connected', 'hold'],
      ['Rebinding', 'hold'],
      ['Disconnected', 'ignore'],
    ]);
  });
});
