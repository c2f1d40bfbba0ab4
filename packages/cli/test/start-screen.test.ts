/** What the first screen says, and to whom. */
import { describe, expect, it } from 'vitest';
import { pageLink, startScreen } from '../src/serve/start-screen.js';

const SCREEN = {
  url: 'ws://localhost:9300',
  fromElsewhere: [],
  hasPage: true,
  token: undefined,
  tokenFile: '/data/connection-token',
  gatewayUrl: undefined,
  dataDir: '/data',
  agents: ['Built-in, no model'],
};

describe('the start screen', () => {
  it('has a link to the page, with the token where only the reader sees it', () => {
    expect(startScreen({ ...SCREEN, token: 'secret' })).toContain('Open      http://localhost:9300/#token=secret\n');
    expect(startScreen(SCREEN)).toContain('Open      http://localhost:9300/\n');
  });

  it('has a link for other machines where they may come in', () => {
    const screen = { ...SCREEN, fromElsewhere: ['ws://192.0.2.7:9300'], token: 'secret' };
    expect(startScreen(screen)).toContain('or        http://192.0.2.7:9300/#token=secret\n');
  });

  it('offers no page where there is none', () => {
    expect(startScreen({ ...SCREEN, hasPage: false })).not.toContain('Open');
  });

  it('links to a page behind TLS as such', () => {
    expect(pageLink('wss://host.example:9300', 'a')).toBe('https://host.example:9300/#token=a');
  });
});
