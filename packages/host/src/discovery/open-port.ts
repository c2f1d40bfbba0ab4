/** Whether anything listens on a port of this machine. Most often nothing does, and this tells sooner than a request. */
import { connect } from 'node:net';
import { GUESS_TIMEOUT_MS } from './limits.js';

export async function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: GUESS_TIMEOUT_MS });
    const answer = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', answer(true)).on('error', answer(false)).on('timeout', answer(false));
  });
}
