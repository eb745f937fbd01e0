import type { Config } from './config.js';

/** A page of the web app as it goes into mails: under the public address, never under what a request's Host header says. */
export const linkTo = (config: Pick<Config, 'BASE_URL' | 'PORT'>, path: `/app${string}`): string =>
  new URL(path, config.BASE_URL ?? `http://localhost:${config.PORT}`).href;
