/** Time comes in as an argument, so that tests can hold it still. */
export { type Clock, systemClock } from '@atrium/link';
