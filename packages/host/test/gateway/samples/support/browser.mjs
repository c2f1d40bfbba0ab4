/**
 * Runs a script as a page would, with a socket that comes from a page and a prompt that stops everything until somebody
 * has typed an answer. Usage: browser <file>. What is typed comes from standard input, and so does `stuck` later on:
 * from then on no picture gets ready. Its clock runs twenty times as fast.
 */
import { readFileSync, readSync } from 'node:fs';
import vm from 'node:vm';
import WebSocket from 'ws';

const FASTER = 20;
const RETURN = 10;

class PageSocket extends WebSocket {
  constructor(url) {
    super(url, { origin: 'http://page.example' });
  }
}

/** Blocks, like the real one. */
function prompt() {
  process.stdout.write('prompt\n');
  const letter = Buffer.alloc(1);
  let typed = '';
  while (readSync(0, letter, 0, 1) === 1 && letter[0] !== RETURN) typed += letter.toString();
  // From now on whatever comes is read when it comes.
  process.stdin.once('data', () => {
    isStuck = true;
    process.stdout.write('stuck\n');
  });
  return typed;
}

let isStuck = false;
const picture = { toDataURL: () => 'data:image/jpeg;base64,AAAA' };
const page = vm.createContext({
  WebSocket: PageSocket,
  fetch,
  prompt,
  setTimeout: (work, milliseconds) => setTimeout(work, milliseconds / FASTER),
  location: { href: 'http://page.example/' },
  document: { title: 'A page', body: {} },
  html2canvas: () => (isStuck ? new Promise(() => {}) : Promise.resolve(picture)),
  showOverlay: () => {},
  showSessionPicker: (sessions, choose) => choose(sessions[0]),
});
vm.runInContext(readFileSync(process.argv[2], 'utf8'), page);
// What is printed does not say who calls it: the page does.
vm.runInContext('connect()', page);
