import { describe, expect, it } from 'vitest';
import { ahp02 } from '../../../src/dialects/ahp-0.2/codec.js';
import { ahp03 } from '../../../src/dialects/ahp-0.3/codec.js';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { hostNotifications } from '../../../src/methods.js';
import { sessionState, sessionSummary } from '../../support/builders.js';
import { CHANNEL, hostWith, WIRE_SESSION } from './scenes.js';

const view = hostWith(sessionState());
const root = { channel: 'ahp-root://' };

describe('sessions-v1 notifications', () => {
  it('[V1-001] [V1-019] [V1-064] tell of a new session, wrapped and without a channel', () => {
    const params = { ...root, summary: sessionSummary({ model: { id: 'large' } }) };
    expect(sessionsV1.encodeNotification({ method: 'root/sessionAdded', params }, view)).toEqual({
      method: 'notification',
      params: {
        notification: {
          type: 'notify/sessionAdded',
          summary: expect.objectContaining({ resource: WIRE_SESSION, status: 'idle', model: 'large' }),
        },
      },
    });
  });

  it('[V1-019] [V1-065] tell of a session that is gone, by its sessions-v1 name', () => {
    const call = { method: 'root/sessionRemoved', params: { ...root, session: CHANNEL } };
    expect(sessionsV1.encodeNotification(call, view)).toEqual({
      method: 'notification',
      params: { notification: { type: 'notify/sessionRemoved', session: WIRE_SESSION } },
    });
  });

  it.each(Object.keys(hostNotifications).filter((method) => !/sessionAdded|sessionRemoved/.test(method)))(
    '[V1-066] tell nothing of %s',
    (method) => {
      expect(
        sessionsV1.encodeNotification({ method, params: { ...root, session: CHANNEL, changes: {} } }, view),
      ).toBeUndefined();
    },
  );

  it('[V1-019] [V1-064] are for every connection, unlike those of later versions', () => {
    expect([sessionsV1, ahp02, ahp03].map(({ traits }) => traits.notifiesEveryone)).toEqual([true, false, false]);
  });
});
