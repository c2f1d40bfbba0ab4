/** A process beside a benchmark, whose work is not counted: clients, providers, model servers. Both ends of it are here. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts `support/<file>`; `ask` calls one of its functions. If the process fails, so does the benchmark. */
export function startHelper(file, args = [], { execArgv = process.execArgv } = {}) {
  const stdio = ['ignore', 2, 2, 'ipc'];
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { stdio, execArgv });
  const waiting = new Map();
  let nextId = 1;
  let isStopped = false;
  child.on('message', ({ id, result }) => {
    waiting.get(id)(result);
    waiting.delete(id);
  });
  child.once('exit', (code, signal) => {
    if (isStopped) return;
    console.error(`${file} ended with ${code ?? signal}`);
    process.exit(1);
  });
  return {
    ask(name, options) {
      const id = nextId++;
      child.send({ id, name, options });
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    stop() {
      isStopped = true;
      child.kill();
    },
  };
}

/** Inside the process: answers with these functions. */
export function answer(functions) {
  process.on('message', async ({ id, name, options }) => {
    process.send({ id, result: await functions[name](options) });
  });
  process.once('disconnect', () => process.exit(0));
  process.on('unhandledRejection', (error) => fail(error instanceof Error ? error.stack : String(error)));
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}
