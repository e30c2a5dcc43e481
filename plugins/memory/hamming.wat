;; How many signs of each passage differ from the query's. Assembled in `hamming.ts`; a test compares the two.
(module
  ;; At 0 the query's 48 bytes, at 64 those of up to 1,024 passages, at 49216 a count of 16 bits for each.
  (memory (export "memory") 1)
  (func (export "compare") (param $count i32)
    (local $query0 v128) (local $query1 v128) (local $query2 v128) (local $sum v128)
    (local $from i32) (local $to i32) (local $end i32)
    (local.set $query0 (v128.load (i32.const 0)))
    (local.set $query1 (v128.load (i32.const 16)))
    (local.set $query2 (v128.load (i32.const 32)))
    (local.set $from (i32.const 64))
    (local.set $to (i32.const 49216))
    (local.set $end (i32.add (i32.const 49216) (i32.mul (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $to) (local.get $end)))
        (local.set $sum (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u
          (i8x16.add
            (i8x16.popcnt (v128.xor (local.get $query0) (v128.load (local.get $from))))
            (i8x16.add
              (i8x16.popcnt (v128.xor (local.get $query1) (v128.load offset=16 (local.get $from))))
              (i8x16.popcnt (v128.xor (local.get $query2) (v128.load offset=32 (local.get $from)))))))))
        (i32.store16 (local.get $to)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $from (i32.add (local.get $from) (i32.const 48)))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (br $next)))))
