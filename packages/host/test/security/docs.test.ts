/** The numbers in `docs/security.md` and `docs/operations.md` are those of the code. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import * as limits from '../../src/limits.js';
import { TOKEN_ADVISED_CHARACTERS, TOKEN_BYTES } from '../../src/security/token.js';

const page = (name: string) => readFile(new URL(`../../../../docs/${name}.md`, import.meta.url), 'utf8');
const MIB = 2 ** 20;
const DAY_MS = 24 * 60 * 60 * 1_000;

describe('the pages', () => {
  it('say what the limits are: security', async () => {
    const text = await page('security');
    expect(text).toContain(`a token of ${TOKEN_BYTES} random bytes`);
    expect(text).toContain(`| Clients at once | ${limits.CLIENTS_MAX}; one more gets 503 |`);
    expect(text).toContain(`not been let in yet | ${limits.UNAUTHENTICATED_MAX}; the oldest has to go |`);
    expect(text).toContain(`| Message | ${limits.FRAME_MAX_BYTES / 10 ** 6} MB; a larger one gets an error`);
    expect(text).toContain(`one above ${limits.PAYLOAD_MAX_BYTES / MIB} MiB ends the connection (1009)`);
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
