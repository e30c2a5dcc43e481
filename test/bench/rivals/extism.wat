;; The same guest as test/fixtures/components/wat/measured.wat, for Extism: the third letter of the input says what to do.
(module
  (import "extism:host/env" "input_length" (func $input-length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input-load-u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input-load-u64 (param i64) (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store-u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store-u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output-set (param i64 i64)))
  (import "extism:host/env" "http_request" (func $http-request (param i64 i64) (result i64)))
  (memory (export "memory") 1)

  ;; Copies the input to a block of its own, eight bytes at a time, as Extism's own libraries for guests do.
  (func $copy-input (result i64)
    (local $block i64) (local $at i64) (local $left i64)
    (local.set $left (call $input-length))
    (local.set $block (call $alloc (local.get $left)))
    (block $done
      (loop $words
        (br_if $done (i64.lt_u (local.get $left) (i64.const 8)))
        (call $store-u64
          (i64.add (local.get $block) (local.get $at))
          (call $input-load-u64 (local.get $at)))
        (local.set $at (i64.add (local.get $at) (i64.const 8)))
        (local.set $left (i64.sub (local.get $left) (i64.const 8)))
        (br $words)))
    (block $done
      (loop $bytes
        (br_if $done (i64.eqz (local.get $left)))
        (call $store-u8
          (i64.add (local.get $block) (local.get $at))
          (call $input-load-u8 (local.get $at)))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $bytes)))
    (local.get $block))

  (func $compute
    (local $left i32) (local $value i32)
    (local.set $left (i32.const 3000000))
    (loop $rounds
      (local.set $value (i32.add (i32.mul (local.get $value) (i32.const 1664525)) (i32.const 1013904223)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $rounds (local.get $left)))
    ;; Kept, or the compiler could leave the loop out.
    (i32.store (i32.const 0) (local.get $value)))

  (func (export "execute") (result i32)
    (local $letter i32) (local $block i64)
    (local.set $letter (call $input-load-u8 (i64.const 2)))
    (local.set $block (call $copy-input))
    (if (i32.eq (local.get $letter) (i32.const 117)) ;; u, {"url":…} is a request as Extism wants it
      (then (local.set $block (call $http-request (local.get $block) (i64.const 0)))))
    (if (i32.eq (local.get $letter) (i32.const 99)) ;; c
      (then (call $compute)))
    (call $output-set (local.get $block) (call $length (local.get $block)))
    (i32.const 0)))
