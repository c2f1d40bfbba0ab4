/** The recipe of the container image names things that exist. `npm run test:container` builds and runs it. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { program } from '../src/cli.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const RECIPE = read('examples/container/Dockerfile');
const COMPOSE = parse(read('examples/container/compose.yaml'));

describe('the recipe of the container image', () => {
  it('runs the host as an ordinary user, with a health check and a volume for its data', () => {
    const final = RECIPE.slice(RECIPE.lastIndexOf('\nFROM '));
    expect(final).toMatch(/^USER node$/m);
    expect(final).toMatch(/^VOLUME \/data$/m);
    // Nothing is done as root after the user was changed.
    expect(final.slice(final.indexOf('\nUSER '))).not.toMatch(/^(RUN|COPY|ADD|USER root)/m);
    const [, check = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(final) ?? [];
    const [name, ...words] = JSON.parse(check);
    expect(name).toBe('atrium');
    const service = program().commands.find((each) => each.name() === words[0]);
    expect(service?.commands.map((each) => each.name())).toContain(words[1]);
  });

  it('sets variables that the host reads', () => {
    const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(RECIPE) ?? [];
    const names = [...block.matchAll(/(\w+)=/g)].map(([, name]) => name);
    const serve = program().commands.find((each) => each.name() === 'serve');
    expect(serve?.options.map(({ envVar }) => envVar)).toEqual(expect.arrayContaining(names));
    expect(names).toEqual(['ATRIUM_DATA_DIR', 'ATRIUM_HOST', 'ATRIUM_INSECURE_REMOTE', 'ATRIUM_CONNECTION_TOKEN_FILE']);
  });

  it('is used by a compose file that opens the port on this machine only and hands the token over as a secret', () => {
    const { atrium } = COMPOSE.services;
    expect(existsSync(path.join(ROOT, atrium.build.dockerfile))).toBe(true);
    expect(atrium.ports).toEqual(['127.0.0.1:9300:9300']);
    expect(`/run/secrets/${atrium.secrets[0]}`).toBe(/TOKEN_FILE=(\S+)/.exec(RECIPE)?.[1]);
    expect(Object.keys(COMPOSE.secrets)).toEqual(atrium.secrets);
  });
});
