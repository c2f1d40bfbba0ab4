/** `web_fetch`, against servers on this machine that stand in for the internet. */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { isPublicAddress } from '@atrium/core/util/public-address.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readableText } from '../../src/workspace/tools/readable-text.js';
import { FETCH_MAX_BYTES, REDIRECTS_MAX, webFetchTool } from '../../src/workspace/tools/web-fetch.js';
import { use } from './tool-box.js';

type Serve = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** A server whose name is public, and how often its name was looked up. */
async function web(serve: Serve, names: Readonly<Record<string, string>> = {}) {
  const server = http.createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const lookups: string[] = [];
  const tool = webFetchTool({
    resolve: async (name) => {
      lookups.push(name);
      const address = names[name] ?? '127.0.0.1';
      return address.split(' ').map((each) => ({ address: each, family: each.includes(':') ? 6 : 4 }));
    },
    // Only this one stands for the internet.
    isPublic: (address) => address === '127.0.0.1',
  });
  return {
    lookups,
    port,
    fetch: (url: string) => use(tool, { url: url.replace('PORT', String(port)) }, undefined),
    tool,
  };
}

const html =
  (text: string): Serve =>
  (_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(text);
  };

describe('[DAY-090] web_fetch', () => {
  it('gives a page as Markdown, without menus and scripts, with links that lead somewhere', async () => {
    const page = await web(
      html(`<title>A  page</title><nav><a href="/menu">Menu</a></nav><main><h2>Head</h2>
        <p>Some <b>bold</b> text, <a href="next?x=1">a link</a>, <a href="javascript:alert(1)">no link</a>.
        <ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul><pre>a\n  b</pre>
        <table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>
        <script>steal()</script><p>${'More. '.repeat(40)}</main><footer>Imprint</footer>`),
    );
    const { text, output } = await page.fetch('http://page.test:PORT/dir/index.html');
    expect(output.success).toBe(true);
    expect(text).toContain('# A page\n\n## Head\n\nSome **bold** text,');
    expect(text).toContain(`[a link](http://page.test:${page.port}/dir/next?x=1), no link.`);
    expect(text).toContain('- one\n');
    expect(text).toContain('\n  - inner\n');
    expect(text).toContain('```\na\n  b\n```');
    expect(text).toContain('| x | y');
    for (const hidden of ['Menu', 'steal', 'Imprint', 'javascript']) expect(text).not.toContain(hidden);
    expect(page.lookups).toEqual(['page.test']);
  });

  it('asks a person, who sees the host, and bounds what it reads and how long', async () => {
    const tool = webFetchTool();
    expect(tool.confirmation?.({ url: 'https://docs.test:8443/a' })?.title).toBe('Fetch a page from docs.test:8443?');
    expect(tool.timeoutMs).toBe(20_000);
    const large = await web((_request, response) => {
      response.setHeader('content-type', 'text/plain');
      response.write(Buffer.alloc(FETCH_MAX_BYTES));
      response.write('x');
    });
    expect((await large.fetch('http://large.test:PORT/')).output.error?.code).toBe('TOO_LARGE');
    const bomb = await web((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(FETCH_MAX_BYTES + 1)));
    });
    expect((await bomb.fetch('http://bomb.test:PORT/')).output.error?.code).toBe('TOO_LARGE');
    const cut = await web((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('half');
      setImmediate(() => response.destroy());
    });
    expect((await cut.fetch('http://cut.test:PORT/')).output.error?.code).toBe('UNREACHABLE');
  });

  it('refuses what is no public host, whatever it is called, also behind a redirect', async () => {
    const names = { 'inside.test': '10.0.0.7', 'half.test': '127.0.0.1 ::1' };
    const page = await web((request, response) => {
      response.writeHead(302, { location: `http://page.test:${page.port}${String(request.url).slice(0, -1)}` }).end();
    }, names);
    const codeOf = async (url: string) => (await page.fetch(url)).output.error?.code;
    for (const url of [
      'http://inside.test/',
      'http://half.test:PORT/',
      'http://169.254.169.254/latest',
      'http://[::1]/',
    ])
      expect(await codeOf(url)).toBe('PRIVATE_ADDRESS');
    for (const url of [
      'file:///etc/passwd',
      'ftp://page.test/',
      'gopher://page.test',
      'no address',
      'http://me:pw@page.test/',
    ])
      expect(await codeOf(url)).toBe('BAD_INPUT');
    const strict = webFetchTool({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    for (const url of [
      'http://localhost/',
      'http://127.1/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://rebind.test/',
    ])
      expect((await use(strict, { url }, undefined)).output.error?.code).toBe('PRIVATE_ADDRESS');
    const inward = await web((_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    const led = await inward.fetch('http://page.test:PORT/');
    expect(led.text).toContain('leads to http://169.254.169.254/');
  });

  it('follows a few redirects of the same host, looks each up anew, and leaves other hosts to a call of their own', async () => {
    const page = await web((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end('ignored');
      else response.setHeader('content-type', 'text/plain').end('there');
    });
    expect((await page.fetch(`http://page.test:PORT/${REDIRECTS_MAX}`)).text).toContain('there');
    expect(page.lookups).toHaveLength(REDIRECTS_MAX + 1);
    const code = (await page.fetch(`http://page.test:PORT/${REDIRECTS_MAX + 1}`)).output.error?.code;
    expect(code).toBe('TOO_MANY_REDIRECTS');
    const away = await web((_request, response) => response.writeHead(301, { location: 'https://other.test/x' }).end());
    expect((await away.fetch('http://page.test:PORT/')).text).toContain('leads to https://other.test/x');
    expect(away.lookups).toEqual(['page.test']);
  });

  it('decodes what servers send, and says what it cannot read', async () => {
    const served: Record<string, [http.OutgoingHttpHeaders, Buffer | string, number?]> = {
      '/br': [{ 'content-type': 'application/json', 'content-encoding': 'br' }, brotliCompressSync('{"a":1}')],
      '/latin': [{ 'content-type': 'text/plain; charset="iso-8859-1"' }, Buffer.from([0xe4])],
      '/meta': [{ 'content-type': 'text/html' }, Buffer.from('<meta charset=koi8-r><p>\xC1</p>', 'latin1')],
      '/pdf': [{ 'content-type': 'application/pdf' }, '%PDF'],
      '/gone': [{ 'content-type': 'text/plain' }, 'not here', 404],
    };
    const page = await web((request, response) => {
      const [headers, body, status = 200] = served[request.url ?? ''] ?? [{}, ''];
      response.writeHead(status, headers).end(body);
    });
    expect((await page.fetch('http://page.test:PORT/br')).text).toContain('{"a":1}');
    expect((await page.fetch('http://page.test:PORT/latin')).text).toContain('ä');
    expect((await page.fetch('http://page.test:PORT/meta')).text).toContain('а');
    expect((await page.fetch('http://page.test:PORT/pdf')).output.error?.code).toBe('NOT_TEXT');
    const gone = await page.fetch('http://page.test:PORT/gone');
    expect(gone.output.error?.code).toBe('HTTP_404');
    expect(gone.text).toContain('not here');
  });

  it('knows which addresses the internet cannot reach', () => {
    const inside = `0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.31.0.1 192.168.1.1 198.18.0.1 224.0.0.1
      255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 fe80::1 fe80::1%eth0 fc00::1 fd12::1 ff02::1
      2001:db8::1 2002:7f00:1:: 2001:0:1:: nonsense`;
    expect(inside.split(/\s+/).filter(isPublicAddress)).toEqual([]);
    const outside = '1.1.1.1 8.8.8.8 172.32.0.1 192.167.0.1 2606:4700::1111 2a00:1450::1';
    expect(outside.split(' ').filter(isPublicAddress)).toEqual(outside.split(' '));
  });

  it('gives up a page that is nested deeper than any that people read', async () => {
    const base = new URL('http://page.test/');
    expect(await readableText(`${'<div>'.repeat(200)}deep`, base)).toBe('deep');
    for (const piece of ['<div>', '<ul><li>', '<b>'])
      await expect(readableText(piece.repeat(100_000), base)).rejects.toThrow('nested too deep');
    // Neither links that never end nor line breaks stand in each other.
    expect(await readableText('<a href=x>y'.repeat(50), base)).toContain('[y](http://page.test/x)');
    expect(await readableText('x<br>'.repeat(1_000), base)).toHaveLength(1_999);
  });
});
