import { type Config, webAddress } from '../config.js';

/** Returns where the web app is, without a slash at its end: the issuer of receipts. */
export const webOrigin = (config: Config): string => new URL(webAddress(config, '/')).origin;
