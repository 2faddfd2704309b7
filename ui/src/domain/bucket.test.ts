import { describe, expect, it } from "vitest";
import type { BucketView } from "../generated";
import { bucketState, passed } from "./bucket";

const BUCKET: BucketView = {
  address: "s3://bucket/results",
  copied: 100_000,
  total: 100_000,
  listing: false,
  complete: true,
  checked_ms: 1_000_000,
  problem: null,
  hint: null,
  notice: null,
  elsewhere: false,
};

describe("the state of a bucket", () => {
  it("says how long ago it was checked", () => {
    expect(bucketState(BUCKET, 1_004_000)).toEqual({
      tone: "native",
      shape: "●",
      text: "checked 4 s ago",
      more: null,
      progress: null,
    });
    expect([0, 59_400, 60_000, 3_599_000, 7_200_000, -5_000].map(passed)).toEqual([
      "0 s",
      "59 s",
      "1 min",
      "59 min",
      "2 h",
      "0 s",
    ]);
  });
  it("says how much is copied, of what was listed until now", () => {
    const first = { ...BUCKET, copied: 1_200, listing: true, complete: false, checked_ms: null };
    expect(bucketState(first, 0).text).toBe("copying 1,200 of 100,000 or more objects");
    expect(bucketState({ ...first, listing: false }, 0).text).toBe(
      "copying 1,200 of 100,000 objects",
    );
    expect(bucketState(first, 0).progress).toEqual({ value: 1_200, max: 100_000 });
  });
  it("says what is wrong and what to do, and when it was last right", () => {
    const problem = { problem: "Cannot reach s3.example.", hint: "Check the network." };
    const lost = bucketState({ ...BUCKET, ...problem, notice: "Not encrypted." }, 1_060_000);
    expect([lost.tone, lost.text, lost.more]).toEqual([
      "lost",
      "checked 1 min ago",
      "Cannot reach s3.example. Check the network. Not encrypted.",
    ]);
    expect(bucketState({ ...BUCKET, elsewhere: true }, 0).text).toContain("another Touchstone");
  });
});
