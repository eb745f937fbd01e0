import { join } from 'node:path';
import type { Config } from '../../../../platform/config.js';
import { DiskStore } from './disk-store.js';
import type { ObjectStore } from './object-store.js';
import { S3Store } from './s3-store.js';

function openStore(config: Config): ObjectStore {
  const folder = join(config.DATA_DIR, 'files');
  const { S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config;
  if (config.FILE_STORE === 'disk') return new DiskStore(folder);
  // The settings are complete: loadConfig() has checked it.
  const settings = {
    endpoint: S3_ENDPOINT as string,
    bucket: S3_BUCKET as string,
    region: S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID as string,
    secretAccessKey: S3_SECRET_ACCESS_KEY as string,
  };
  return new S3Store(settings, join(folder, 'unfinished'));
}

const stores = new WeakMap<Config, ObjectStore>();

/** Returns the store of uploaded files that the settings name; one per process. */
export function fileStore(config: Config): ObjectStore {
  const store = stores.get(config) ?? openStore(config);
  stores.set(config, store);
  return store;
}
