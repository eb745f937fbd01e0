interface FileStoreSettings {
  FILE_STORE: 'disk' | 's3';
  S3_ENDPOINT?: string | undefined;
  S3_BUCKET?: string | undefined;
  S3_ACCESS_KEY_ID?: string | undefined;
  S3_SECRET_ACCESS_KEY?: string | undefined;
}

const REQUIRED = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;

/** Returns a line for each setting that FILE_STORE=s3 lacks. */
export const fileStoreProblems = (settings: FileStoreSettings): string[] =>
  settings.FILE_STORE === 'disk'
    ? []
    : REQUIRED.filter((name) => settings[name] === undefined).map((name) => `${name}: needed with FILE_STORE=s3`);
