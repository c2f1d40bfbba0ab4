/** The numbers in `docs/security.md` and `docs/operations.md` are those of the code. */

import { readFile } from 'node:fs/promises';
import * as ofLog from '@atrium/core/log/limits.js';
import * as ofSessions from '@atrium/core/sessions/limits.js';
import { TOKEN_BYTES } from '@atrium/core/util/secrets.js';
import * as ofWire from '@atrium/core/wire/limits.js';
import { describe, expect, it } from 'vitest';
import * as ofServer from '../../src/server/limits.js';
import * as budget from '../../src/server/peer-budget.js';
import { LINGER_MS } from '../../src/server/pending-connections.js';
import { TOKEN_ADVISED_CHARACTERS } from '../../src/server/token-file.js';

const limits = { ...ofLog, ...ofSessions, ...ofWire, ...ofServer };
const page = (name: string) => readFile(new URL(`../../../../docs/${name}.md`, import.meta.url), 'utf8');
const KIB = 2 ** 10;
const MIB = 2 ** 20;
const DAY_MS = 24 * 60 * 60 * 1_000;

describe('the pages', () => {
  it('say what the limits are: security', async () => {
    const text = await page('security');
    expect(text).toContain(`a token of ${TOKEN_BYTES} random bytes`);
    expect(text).toContain(`| Clients at once | ${limits.CLIENTS_MAX}; one more gets 503 |`);
    expect(text).toContain(`not been let in yet | ${limits.UNAUTHENTICATED_MAX}; the oldest has to go, with a 503 |`);
    expect(text).toContain(`handshake of TLS | ${limits.TLS_HANDSHAKE_TIMEOUT_MS / 1_000} s each |`);
    expect(text).toContain(`looks at the files every ${limits.TLS_CHECK_MS / 1_000} seconds`);
    const { FAILURES_PER_ADDRESS_MAX, FAILURES_TOTAL_MAX, UPGRADES_PER_ADDRESS_MAX, UPGRADES_TOTAL_MAX } = limits;
    expect(limits.RATE_WINDOW_MS).toBe(60_000);
    expect(text).toContain(
      `${FAILURES_PER_ADDRESS_MAX} a minute from one address (IPv6: one /64), ${FAILURES_TOTAL_MAX} from`,
    );
    expect(text).toContain(`attempts wait, up to ${limits.ATTEMPT_DELAY_MAX_MS / 1_000} s,`);
    expect(text).toContain(`one address that wait | ${limits.ATTEMPTS_WAITING_MAX}; one more gets 429 |`);
    const upgrades = [UPGRADES_PER_ADDRESS_MAX, UPGRADES_TOTAL_MAX.toLocaleString('en')];
    expect(text).toContain(`| ${upgrades[0]} a minute from one address, ${upgrades[1]} from all; more get 429 |`);
    expect(text).toContain(`remembered for this | ${limits.ADDRESSES_COUNTED_MAX.toLocaleString('en')};`);
    expect(text).toContain(`| Message | ${limits.CLIENT_FRAME_MAX_BYTES / 10 ** 6} MB; a larger one gets an error`);
    expect(text).toContain(`one above ${limits.PAYLOAD_MAX_BYTES / MIB} MiB ends the connection (1009)`);
    expect(text).toContain(`one peer | ${budget.CONTROL_FRAMES_MAX.toLocaleString('en')} between two of ours`);
    expect(text).toContain(`Pieces of one message | ${budget.FRAGMENTS_MAX.toLocaleString('en')} |`);
    expect(text).toContain(`let in | ${budget.UNADMITTED_PEER_MAX_BYTES / KIB} KiB in all, a ping counts as 2 KiB`);
    expect(text).toContain(`all such together ${budget.UNADMITTED_PEERS_MAX_BYTES / MIB} MiB`);
    expect(text).toContain('thrown away for two seconds');
    expect(LINGER_MS).toBe(2_000);
    expect(budget.CONTROL_FRAME_BYTES).toBe(2 * KIB);
    expect(text).toContain(`pinged every ${limits.HEARTBEAT_MS / 1_000} s`);
  });

  it('say what the limits are: operations', async () => {
    const text = await page('operations');
    expect(text).toContain(`Its history is kept for ${limits.DISPOSED_KEPT_MS / DAY_MS} days`);
    expect(text).toContain(`its newest ${limits.TURNS_IN_MEMORY} turns`);
    expect(text).toContain(`reads slowly | at most ${limits.OUTBOX_MAX_BYTES / MIB} MiB`);
    expect(text).toContain(`up to 1,000 actions or ${limits.REPLAY_MAX_BYTES / MIB} MiB`);
    expect(limits.REPLAY_MAX_ENVELOPES).toBe(1_000);
  });

  it('say how long a token of your own should be', async () => {
    expect(await page('security')).toContain(`\`- _ . ~\`, ${TOKEN_ADVISED_CHARACTERS} of them or more`);
  });
});
