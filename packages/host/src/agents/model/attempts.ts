/** Watches the attempts of one request. The SDK waits between them in silence; people hear what is waited for. */

/** What is waited for, in words for people; undefined when the wait is over. */
export type OnWait = (why: string | undefined) => void;

/** As `fetch`, for one request that is tried so many times again. */
export function watchedFetch(retries: number, onWait: OnWait): typeof fetch {
  let failures = 0;
  const failed = (why: string) => {
    failures += 1;
    if (failures <= retries) onWait(why);
  };
  return async (...request) => {
    try {
      const response = await fetch(...request);
      if (isTriedAgain(response.status)) failed(`answered ${response.status}; trying again${pauseOf(response)}`);
      else if (failures > 0) onWait(undefined);
      return response;
    } catch (error) {
      failed('cannot be reached; trying again');
      throw error;
    }
  };
}

/** These are the failures that may pass. */
function isTriedAgain(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function pauseOf({ headers }: Response): string {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? ` in ${Math.ceil(seconds)} s` : '';
}
